-- Whether there is anything to do, in one look.
--
-- KEYS 1 agenda (zset)   2 show agenda: cards (zset)   3 show agenda: rest (zset)   4 outbox (stream)
--      5 pause (string)   6 line of those that are compared with Slack (list of '<due, ms> <run id>')   7 the same of
--      those with messages that may still change (zset)
--
-- Returns {now, first score of 1, of 2, of 3 ('' each when empty), length of 4, 5 or '', when the first of 6 and 7 is due or ''}
local time = redis.call('TIME')
local reply = {time[1] * 1000 + math.floor(time[2] / 1000)}
for i = 1, 3 do reply[i + 1] = redis.call('ZRANGE', KEYS[i], 0, 0, 'WITHSCORES')[2] or '' end
reply[5] = redis.call('XLEN', KEYS[4])
reply[6] = redis.call('GET', KEYS[5]) or ''
local look = string.match(redis.call('LINDEX', KEYS[6], 0) or '', '^%d*')
local late = redis.call('ZRANGE', KEYS[7], 0, 0, 'WITHSCORES')[2]
reply[7] = late and (tonumber(late) < (tonumber(look) or math.huge)) and late or look
return reply
