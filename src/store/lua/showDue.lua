-- The next run whose messages must be brought up to date: cards that wait for people first. Entries whose run is gone
-- are cleaned away; runs of a format that the caller can't read are left to others, and one that nobody can read is put off.
--
-- KEYS 1 show agenda: cards (zset)   2 show agenda: rest (zset)
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 the same for what was sent   3 newest format read
--      4 ms for which one is put off that nobody can read
--
-- Returns {'run', id, class, now, revision, state, {field, value, … of what was sent}}
--         {'broken', id}: it was put off
--         {'idle', now, when something is due next or ''}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local classes = {'cards', 'rest'}
local soonest

for i = 1, 2 do
  local unreadable = 0
  for _ = 1, 1000 do
    local head = redis.call('ZRANGE', KEYS[i], unreadable, unreadable, 'WITHSCORES')
    local id, score = head[1], tonumber(head[2])
    if not id or score > now then
      if unreadable > 0 then score = now + 1000 end
      if score and (not soonest or score < soonest) then soonest = score end
      break
    end
    -- A key of another type must not fail this for all other runs.
    local have = redis.pcall('HMGET', ARGV[1] .. id, 'head', 'state')
    local sent = redis.pcall('HGETALL', ARGV[2] .. id)
    local rev, format = string.match(have[1] or '', '^(%d+) %S+ %d+ (%d+) %S*$')
    if not have.err and not have[1] and not have[2] then
      redis.call('ZREM', KEYS[i], id)
    elseif not rev or sent.err then
      redis.call('ZADD', KEYS[i], now + tonumber(ARGV[4]), id)
      return {'broken', id}
    elseif tonumber(format) > tonumber(ARGV[3]) then
      unreadable = unreadable + 1
    else
      return {'run', id, classes[i], now, tonumber(rev), have[2], sent}
    end
  end
end
return {'idle', now, soonest and string.format('%.0f', soonest) or ''}
