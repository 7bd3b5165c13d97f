-- Reads a run and the time.
--
-- KEYS 1 run (hash)
--
-- Returns {now, revision, state}; revision 0 and no state when there is no such run
local time = redis.call('TIME')
local have = redis.call('HMGET', KEYS[1], 'head', 'state')
return {time[1] * 1000 + math.floor(time[2] / 1000), tonumber(string.match(have[1] or '0', '^%d+')), have[2]}
