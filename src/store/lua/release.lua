-- Gives a lease back without changing the run. When the run moved on meanwhile, it is due when its newest state says.
--
-- KEYS 1 run (hash)   2 agenda (zset)
--
-- ARGV 1 run id   2 owner   3 revision that the holder saw   4 score for the agenda when that still stands, 0 for now
--
-- Returns {1 when the lease was ours or 0 when not, now, revision}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local have = redis.call('HMGET', KEYS[1], 'head', 'owner', 'wake')
local rev = tonumber(string.match(have[1] or '0', '^%d+'))
if have[2] ~= ARGV[2] then return {0, now, rev} end
local score = ARGV[4]
if rev ~= tonumber(ARGV[3]) then score = have[3] or now end
redis.call('HDEL', KEYS[1], 'owner', 'until', 'wake', 'claim')
redis.call('ZADD', KEYS[2], score == '0' and now or score, ARGV[1])
return {1, now, rev}
