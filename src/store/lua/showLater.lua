-- Puts off showing a run, unless it moved on since it was rendered.
--
-- KEYS 1 run (hash)   2 show agenda of the class given (zset)   3 the other show agenda (zset)   4 what was sent (hash)
--
-- ARGV 1 run id   2 when, ms   3 revision rendered, '' for any   4 '1': somebody begins to serve it · '0': and ends ·
--      '' leaves that as it is
--
-- Returns 1 when it was put off, 0 when it stays as it is
local rev = string.match(redis.call('HGET', KEYS[1], 'head') or '', '^%d+')
if not rev or (ARGV[3] ~= '' and rev ~= ARGV[3]) then return 0 end
redis.call('ZADD', KEYS[2], ARGV[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
if ARGV[4] == '1' then redis.call('HSET', KEYS[4], 'served', 1) end
if ARGV[4] == '0' then redis.call('HDEL', KEYS[4], 'served') end
return 1
