-- Reads a run and the time.
--
-- KEYS 1 run (hash)
--
-- Returns {now, revision, state}; revision 0 and no state when there is no such run, -1 when it can't be read
local time = redis.call('TIME')
local have = redis.pcall('HMGET', KEYS[1], 'head', 'state')
local none = not have.err and not have[1] and not have[2]
local rev = none and '0' or string.match(have[1] or '', '^(%d+) %S+ %d+ %d+ %S*$') or '-1'
return {time[1] * 1000 + math.floor(time[2] / 1000), tonumber(rev), have[2]}
