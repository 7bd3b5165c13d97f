-- Takes a run out of the line of those that are compared with Slack, unless it moved on since.
--
-- KEYS 1 run (hash)   2 what was sent (hash)   3 the line (list)
--
-- ARGV 1 revision seen   2 its place in the line
--
-- Returns 1 when it left, 0 when it stays
local rev = string.match(redis.call('HGET', KEYS[1], 'head') or '', '^%d+')
if rev and rev ~= ARGV[1] then return 0 end
redis.call('HDEL', KEYS[2], 'look')
return redis.call('LREM', KEYS[3], -1, ARGV[2])
