-- Takes a run off the show agenda, when what was rendered is still the newest. Nobody serves it then.
--
-- KEYS 1 run (hash)   2 what was sent (hash)   3 show agenda: cards (zset)   4 show agenda: rest (zset)
--      5 line of those that are compared with Slack (list of '<due, ms> <run id>')
--
-- ARGV 1 run id   2 revision rendered   3 how many copies had been learnt by then ('' is none)
--      4 in how many ms it is compared with Slack; '' not on account of this
--
-- Returns 1 when it left, 0 when it stays due
local rev = string.match(redis.call('HGET', KEYS[1], 'head') or '', '^%d+')
if rev and (rev ~= ARGV[2] or (redis.call('HGET', KEYS[2], 'learnt') or '') ~= ARGV[3]) then return 0 end
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('HDEL', KEYS[2], 'served')
if rev and ARGV[4] ~= '' and redis.call('HSETNX', KEYS[2], 'look', 1) == 1 then
  local time = redis.call('TIME')
  local due = time[1] * 1000 + math.floor(time[2] / 1000) + tonumber(ARGV[4])
  redis.call('RPUSH', KEYS[5], string.format('%.0f %s', due, ARGV[1]))
end
return 1
