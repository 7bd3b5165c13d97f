-- Swaps revision n of a run for n+1, together with all that goes beside it. Knows nothing of what the state means, and
-- decodes no JSON. Everything is checked before the first write, because an error later would roll nothing back.
--
-- A run's small fields share one, `head`: '<revision> <token of the last commit> <its time, ms> <format> <what its next
-- worker needs: transcript, or names of fields with commas between>', because in a hash each field costs more than these hold.
--
-- KEYS 1 run (hash)   2 log (list)   3 show (hash)   4 agenda (zset)
--      5 show agenda of the class given (zset)   6 outbox (stream)   7 index (what comes before an index' name)
--
-- ARGV 1 run id
--      2 owner of the lease, or '' for everybody else
--      3 format of the state and what is needed next, as `head` ends
--      4 with blanks between: revision that is replaced, 0 creates the run
--        token of this commit: the same when it is sent again
--        not after, ms by this server's clock; 0 is no limit
--        'keep' or 'release' the lease, or '-' without an owner; 'take' it if nobody's stands, as a claim would
--        length of the lease that is taken, ms
--        score for the agenda: when the run next needs a worker, 0 for now
--        1 puts the run on the show agenda   1 returns the transcript
--        counts of the arguments that follow: fields to set (field, value), transcript entries (kind, text: '=' is the
--        entry itself, '@' the field that is moved there), facts for the outbox, indexes to set (name, score), indexes to
--        leave, slots (name, data), fields to return
--      5.. the arguments counted, in that order
--
-- Returns {'done' | 'yours', now, revision, fields returned, transcript, 1 when the lease was taken with it}: stored now, or
--         stored before under this token
--         {'conflict', now, revision, state}: another revision stands (0 and no state: none)
--         {'late', now}: the revision stands, but the time is over
--         {'not owner', now}: the lease is another's by now, or was given back
local run = KEYS[1]
local id = ARGV[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local owner = ARGV[2]
local plan = {}
for word in string.gmatch(ARGV[4], '%S+') do plan[#plan + 1] = word end
local token, lease, wake = plan[2], plan[4], plan[6]
local expected = tonumber(plan[1])
local takes = lease == 'take'
local have = redis.call('HMGET', run, 'head', 'owner', 'until')
local rev, last = string.match(have[1] or '0', '^(%d+) ?(%S*)')
rev = tonumber(rev)

local function reply(word, taken)
  local wanted, log = {}, {}
  local count = tonumber(plan[15])
  if count > 0 then wanted = redis.call('HMGET', run, unpack(ARGV, #ARGV - count + 1, #ARGV)) end
  if plan[8] == '1' then log = redis.call('LRANGE', KEYS[2], 0, -1) end
  return {word, now, expected + 1, wanted, log, taken and 1 or 0}
end

if last == token then return reply('yours', takes and redis.call('HGET', run, 'claim') == token) end
if owner ~= '' and not takes and have[2] ~= owner then return {'not owner', now} end
if rev ~= expected then return {'conflict', now, rev, redis.call('HGET', run, 'state')} end
local limit = tonumber(plan[3])
if limit > 0 and now > limit then return {'late', now} end

-- Where each group of arguments begins; the last are the fields to return.
local first = {}
local at = 5
for group = 1, 7 do
  first[group] = at
  at = at + tonumber(plan[group + 8])
end

local entries, gone = {}, {}
for i = first[2], first[3] - 1, 2 do
  local text = ARGV[i + 1]
  if ARGV[i] == '@' then
    gone[#gone + 1] = text
    text = redis.call('HGET', run, text)
    if not text then return redis.error_reply('MISSING the text ' .. ARGV[i + 1] .. ' of ' .. id) end
  end
  entries[#entries + 1] = text
end

-- From here on, writes. The first is one that is refused when memory is full.
-- Lua's stack holds a few thousand arguments, so long lists go in pieces.
local function each(command, key, list, from, to)
  while from <= to do
    local last = math.min(from + 999, to)
    redis.call(command, key, unpack(list, from, last))
    from = last + 1
  end
end

local leased = lease == 'keep' or ((owner == '' or takes) and have[2] and tonumber(have[3]) > now)
local head = math.min(first[2] - 1, first[1] + 999)
local line = string.format('%d %s %.0f %s', expected + 1, token, now, ARGV[3])
if leased then
  redis.call('HSET', run, 'head', line, 'wake', wake, unpack(ARGV, first[1], head))
elseif takes then
  local ends = now + tonumber(plan[5])
  redis.call('HSET', run, 'head', line, 'owner', owner, 'until', ends, 'claim', token, unpack(ARGV, first[1], head))
  redis.call('ZADD', KEYS[4], ends, id)
else
  redis.call('HSET', run, 'head', line, unpack(ARGV, first[1], head))
  redis.call('ZADD', KEYS[4], wake == '0' and now or wake, id)
end
each('HSET', run, ARGV, head + 1, first[2] - 1)
if lease == 'release' then
  for _, field in ipairs({'owner', 'until', 'wake', 'claim'}) do gone[#gone + 1] = field end
end
each('HDEL', run, gone, 1, #gone)
each('RPUSH', KEYS[2], entries, 1, #entries)
for i = first[3], first[4] - 1 do redis.call('XADD', KEYS[6], '*', 'run', id, 'fact', ARGV[i]) end
for i = first[4], first[5] - 1, 2 do redis.call('ZADD', KEYS[7] .. ARGV[i], ARGV[i + 1], id) end
for i = first[5], first[6] - 1 do redis.call('ZREM', KEYS[7] .. ARGV[i], id) end
for i = first[6], first[7] - 1, 2 do redis.call('HSETNX', KEYS[3], 'slot:' .. ARGV[i], ARGV[i + 1]) end
if plan[7] == '1' then redis.call('ZADD', KEYS[5], now, id) end
return reply('done', takes and not leased)
