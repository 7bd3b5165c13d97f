-- The run that has waited longest for somebody to compare it with Slack: first those with messages that a call of unknown
-- outcome might have changed until now, then the line of all that people decide about. It goes to the end of where it waited,
-- so whoever dies meanwhile loses none. In the line all wait for the same time, so it is in the order of when each is due.
--
-- KEYS 1 the line (list of '<due, ms> <run id>')   2 runs with messages that may still change (zset: until when, ms)
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 the same for what was sent   3 newest format read
--      4 ms from one comparison to the next   5 the same of those of 2
--
-- Returns {'run', id, now, revision, state, {field, value, … of what was sent}, its new place in the line or score in 2,
--          when it was due, 'line' or 'late'}
--         {'idle', now, when the next is due or ''}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- A key of another type must not fail this for all others.
local function exists(id)
  return type(redis.pcall('HGET', ARGV[1] .. id, 'head')) == 'string'
end

-- Nothing for one that can't be read.
local function found(id, place, due, what)
  local have = redis.call('HMGET', ARGV[1] .. id, 'head', 'state')
  local format = tonumber(string.match(have[1], '^%d+ %S+ %d+ (%d+) %S*$') or '')
  local sent = redis.pcall('HGETALL', ARGV[2] .. id)
  if not format or format > tonumber(ARGV[3]) or sent.err then return nil end
  return {'run', id, now, tonumber(string.match(have[1], '^%d+')), have[2], sent, place, due, what}
end

local function again(wait)
  return string.format('%.0f', now + tonumber(wait))
end

local soonest
for _ = 1, 1000 do
  local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
  local id, due = head[1], tonumber(head[2])
  if not id or due > now then
    soonest = due
    break
  end
  local score = again(ARGV[5])
  if exists(id) then
    redis.call('ZADD', KEYS[2], score, id)
    local run = found(id, score, due, 'late')
    if run then return run end
  else
    redis.call('ZREM', KEYS[2], id)
  end
end
for _ = 1, 1000 do
  local head = redis.call('LINDEX', KEYS[1], 0)
  local due, id = string.match(head or '', '^(%d+) (.*)$')
  due = tonumber(due)
  if not due or due > now then
    if due and due < (soonest or math.huge) then soonest = due end
    return {'idle', now, soonest and string.format('%.0f', soonest) or ''}
  end
  redis.call('LPOP', KEYS[1])
  if exists(id) then
    local place = again(ARGV[4]) .. ' ' .. id
    redis.call('RPUSH', KEYS[1], place)
    local run = found(id, place, due, 'line')
    if run then return run end
  end
end
return {'idle', now, string.format('%.0f', now)}
