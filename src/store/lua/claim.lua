-- Leases the run that has been due longest to a worker. Entries whose run is gone are cleaned away; runs of a format
-- that the worker can't read are left to others.
--
-- KEYS 1 agenda (zset)
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 the same for its transcript
--      3 owner   4 length of the lease, ms   5 newest format that the worker reads
--      6 token of this claim: the same when it is sent again   7 '1' when it is sent again, its reply having been lost
--
-- Returns {'run', id, now, revision, state, owner before or '', transcript}: the transcript only when a model turn is next
--         {'idle', now, when something is due next or ''}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function claimed(id, have, previous)
  local log = {}
  local rev, next = string.match(have[1], '^(%d+) %S+ %d+ %d+ (%S*)$')
  if next == 'model' then log = redis.call('LRANGE', ARGV[2] .. id, 0, -1) end
  return {'run', id, now, tonumber(rev), have[2], previous, log}
end

if ARGV[7] == '1' then
  local leased = redis.call('ZRANGEBYSCORE', KEYS[1], now, now + tonumber(ARGV[4]))
  for _, id in ipairs(leased) do
    if redis.call('HGET', ARGV[1] .. id, 'claim') == ARGV[6] then
      return claimed(id, redis.call('HMGET', ARGV[1] .. id, 'head', 'state'), '')
    end
  end
end

local unreadable = 0
for _ = 1, 1000 do
  local head = redis.call('ZRANGE', KEYS[1], unreadable, unreadable, 'WITHSCORES')
  local id = head[1]
  if not id or tonumber(head[2]) > now then
    -- What only a newer release can take stays due; looking again at once would find it again.
    if unreadable > 0 then return {'idle', now, now + 1000} end
    return {'idle', now, head[2] or ''}
  end
  local run = ARGV[1] .. id
  local have = redis.call('HMGET', run, 'head', 'state', 'owner')
  if not have[1] then
    redis.call('ZREM', KEYS[1], id)
  elseif tonumber(string.match(have[1], ' (%d+) %S*$')) > tonumber(ARGV[5]) then
    unreadable = unreadable + 1
  else
    local ends = now + tonumber(ARGV[4])
    redis.call('HSET', run, 'owner', ARGV[3], 'until', ends, 'claim', ARGV[6])
    redis.call('ZADD', KEYS[1], ends, id)
    return claimed(id, have, have[3] or '')
  end
end
return {'idle', now, now + 1000}
