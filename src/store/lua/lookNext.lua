-- The run that has waited longest for somebody to compare it with Slack; it goes to the end of the line, so whoever dies
-- meanwhile loses none. All wait for the same time, so the line is in the order of when each is due.
--
-- KEYS 1 the line (list of '<due, ms> <run id>')
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 the same for what was sent   3 newest format read
--      4 ms from one comparison to the next
--
-- Returns {'run', id, now, revision, state, {field, value, … of what was sent}, its new place in the line, when it was due}
--         {'idle', now, when the next is due or ''}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _ = 1, 1000 do
  local head = redis.call('LINDEX', KEYS[1], 0)
  if not head then return {'idle', now, ''} end
  local due, id = string.match(head, '^(%d+) (.*)$')
  if tonumber(due) > now then return {'idle', now, due} end
  redis.call('LPOP', KEYS[1])
  local have = redis.call('HMGET', ARGV[1] .. id, 'head', 'state')
  if have[1] then
    local place = string.format('%.0f %s', now + tonumber(ARGV[4]), id)
    redis.call('RPUSH', KEYS[1], place)
    if tonumber(string.match(have[1], ' (%d+) %S*$')) <= tonumber(ARGV[3]) then
      local sent = redis.call('HGETALL', ARGV[2] .. id)
      return {'run', id, now, tonumber(string.match(have[1], '^%d+')), have[2], sent, place, tonumber(due)}
    end
  end
end
return {'idle', now, string.format('%.0f', now)}
