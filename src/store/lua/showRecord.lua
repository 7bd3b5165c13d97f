-- Notes what Slack holds of a run. A run that is gone gets no new keys.
--
-- KEYS 1 run (hash)   2 what was sent (hash)   3 show agenda: cards (zset)   4 runs with messages that may still change (zset)
--
-- ARGV 1 run id   2 field   3 value   4 '1': a copy that we did not know of · '2': only in the place of what 5 says; when
--      it is new, the run is due for showing · '3': as 2, and nothing is to be shown by that   6 until when the message may
--      still change, ms; '' when not
--
-- Returns 1 when it was noted, 0 when the run is gone, the copy was known, or something else stands there
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if ARGV[6] ~= '' then redis.call('ZADD', KEYS[4], 'GT', ARGV[6], ARGV[1]) end
if ARGV[4] == '2' or ARGV[4] == '3' then
  if redis.call('HGET', KEYS[2], ARGV[2]) ~= ARGV[5] then return 0 end
  redis.call('HDEL', KEYS[2], ARGV[2])
end
if ARGV[4] == '' or ARGV[4] == '3' then
  redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
  return 1
end
if redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[3]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[2], 'learnt', 1)
redis.call('ZADD', KEYS[3], 0, ARGV[1])
return 1
