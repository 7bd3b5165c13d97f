-- Makes a lease last longer. One that has run out is still its holder's as long as nobody else took the run.
--
-- KEYS 1 run (hash)   2 agenda (zset)
--
-- ARGV 1 run id   2 owner   3 length of the lease from now on, ms
--
-- Returns {1 when it is held or 0 when it is lost, now, revision}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local have = redis.call('HMGET', KEYS[1], 'head', 'owner')
local rev = tonumber(string.match(have[1] or '0', '^%d+'))
if have[2] ~= ARGV[2] then return {0, now, rev} end
redis.call('HSET', KEYS[1], 'until', now + tonumber(ARGV[3]))
redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]), ARGV[1])
return {1, now, rev}
