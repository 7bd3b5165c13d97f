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
  -- A key of another type must not fail this for all other runs.
  local have = redis.pcall('HMGET', ARGV[1] .. id, 'head', 'state')
  if have[1] then
    local place = string.format('%.0f %s', now + tonumber(ARGV[4]), id)
    redis.call('RPUSH', KEYS[1], place)
    local format = tonumber(string.match(have[1], '^%d+ %S+ %d+ (%d+) %S*$') or '')
    local sent = redis.pcall('HGETALL', ARGV[2] .. id)
    if format and format <= tonumber(ARGV[3]) and not sent.err then
      return {'run', id, now, tonumber(string.match(have[1], '^%d+')), have[2], sent, place, tonumber(due)}
    end
  end
end
return {'idle', now, string.format('%.0f', now)}
