-- Leases to a worker the runs that have been due longest. Entries whose run is gone are cleaned away; runs of a format
-- that the worker can't read are left to others, and one that nobody can read is put off.
--
-- KEYS 1 agenda (zset)
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 the same for its transcript
--      3 owner   4 length of the lease, ms   5 newest format that the worker reads   6 how many at most
--      7 token of this claim: the same when it is sent again   8 '1' when it is sent again, its reply having been lost
--      9 ms for which a run is put off that nobody can read
--
-- Returns {now, when something is due next or '', {id, revision, state, owner before or '', transcript, names,
--         texts} or id, …}: the transcript or texts and their names, as the run's head says that its next worker needs them;
--         the id alone of a run that was put off
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local ends = now + tonumber(ARGV[4])
local reply = {now, ''}

local function add(id, have)
  local log, names, texts = {}, {}, {}
  local rev, needs = string.match(have[1], '^(%d+) %S+ %d+ %d+ ([^ !]*)%S*$')
  if needs == 'transcript' then
    log = redis.pcall('LRANGE', ARGV[2] .. id, 0, -1)
    if log.err then log = {} end
  else
    for name in string.gmatch(needs, '[^,]+') do names[#names + 1] = name end
    if #names > 0 then texts = redis.call('HMGET', ARGV[1] .. id, unpack(names)) end
  end
  reply[#reply + 1] = {id, tonumber(rev), have[2], have[3] or '', log, names, texts}
end

if ARGV[8] == '1' then
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now, ends)) do
    local run = ARGV[1] .. id
    if redis.pcall('HGET', run, 'claim') == ARGV[7] then add(id, redis.call('HMGET', run, 'head', 'state')) end
  end
  if #reply > 2 then return reply end
end

local unreadable = 0
for _ = 1, 1000 do
  local head = redis.call('ZRANGE', KEYS[1], unreadable, unreadable, 'WITHSCORES')
  local id = head[1]
  reply[2] = head[2] or ''
  if not id or tonumber(head[2]) > now then break end
  -- What is due still when enough is claimed, is due at once.
  if #reply - 2 >= tonumber(ARGV[6]) then return reply end
  local run = ARGV[1] .. id
  -- A key of another type must not fail this for all other runs.
  local have = redis.pcall('HMGET', run, 'head', 'state', 'owner')
  local format = tonumber(string.match(have[1] or '', '^%d+ %S+ %d+ (%d+) %S*$') or '')
  if not have.err and not have[1] and not have[2] then
    redis.call('ZREM', KEYS[1], id)
  elseif not format then
    redis.call('ZADD', KEYS[1], now + tonumber(ARGV[9]), id)
    reply[#reply + 1] = id
  elseif format > tonumber(ARGV[5]) then
    unreadable = unreadable + 1
  else
    redis.call('HSET', run, 'owner', ARGV[3], 'until', ends, 'claim', ARGV[7])
    redis.call('ZADD', KEYS[1], ends, id)
    add(id, have)
  end
end
-- What only a newer release can take stays due; looking again at once would find it again.
if unreadable > 0 then reply[2] = now + 1000 end
return reply
