-- Takes or renews a lease on something that only one process may do at a time.
--
-- KEYS 1 lease (string)
--
-- ARGV 1 owner   2 length, ms
--
-- Returns 1 when it is ours, else 0
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
