-- The next run whose messages must be brought up to date: cards that wait for people first. Entries whose run is gone
-- are cleaned away; runs of a format that the caller can't read are left to others.
--
-- KEYS 1 show agenda: cards (zset)   2 show agenda: rest (zset)
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 the same for what was sent   3 newest format read
--
-- Returns {'run', id, class, now, revision, state, {field, value, … of what was sent}}
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
    local have = redis.call('HMGET', ARGV[1] .. id, 'head', 'state')
    if not have[1] then
      redis.call('ZREM', KEYS[i], id)
    elseif tonumber(string.match(have[1], ' (%d+) %S*$')) > tonumber(ARGV[3]) then
      unreadable = unreadable + 1
    else
      return {'run', id, classes[i], now, tonumber(string.match(have[1], '^%d+')), have[2], redis.call('HGETALL', ARGV[2] .. id)}
    end
  end
end
return {'idle', now, soonest and string.format('%.0f', soonest) or ''}
