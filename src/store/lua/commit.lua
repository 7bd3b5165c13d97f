-- Swaps revision n of a run for n+1, together with all that goes beside it. Knows nothing of what the state means, and
-- decodes no JSON. Everything is checked before the first write, because an error later would roll nothing back.
--
-- A run's small fields share one, `head`: '<revision> <token of the last commit> <its time, ms> <format> <what its next
-- worker needs: transcript, or names of fields with commas between>!<when an open ask is overdue or to be reminded of, ms>',
-- because in a hash each field costs more than these hold. Without such an ask it ends before the '!'.
--
-- KEYS 1 run (hash)   2 log (list)   3 show (hash)   4 agenda (zset)
--      5 show agenda of the class given (zset)   6 outbox (stream)   7 index (what comes before an index' name)
--
-- ARGV 1 with blanks between, since one argument of many words costs less than many arguments:
--        run id
--        owner of the lease, '-' for everybody else
--        revision that is replaced, 0 creates the run
--        token of this commit: the same when it is sent again
--        not after, ms by this server's clock; 0 is no limit
--        'keep' or 'release' the lease, or '-' without an owner; 'take' it if nobody's stands, as a claim would
--        length of the lease that is taken, ms
--        score for the agenda: when the run next needs a worker, 0 for now
--        1 puts the run on the show agenda
--        1 returns the transcript
--        a letter for each transcript entry, '-' without any: '=' is the entry itself, '@' the field that is moved there
--        where the groups of arguments end that follow: fields, transcript entries, facts, indexes to set, indexes to leave, slots
--        format of the state and what is needed next, as `head` ends
--      2 state
--      3.. fields to set (field, value) · transcript entries · facts for the outbox · indexes to set (name, score) · indexes to
--          leave · slots (name, data) · fields to return
--
-- Returns {'done' | 'yours', now, 1 when the lease was taken with it, transcript, fields returned}: stored now, or stored
--           before under this token; the last two only when something is asked for
--         {'conflict', now, revision, state}: another revision stands (0 and no state: none)
--         {'late', now}: the revision stands, but the time is over
--         {'not owner', now}: the lease is another's by now, or was given back
local run = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local id, owner, expected, token, limit, lease, length, wake, shows, logs, kinds, fields, entries, facts, set, leave, slots, needs =
  string.match(ARGV[1], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$')
fields, entries, facts, set = tonumber(fields), tonumber(entries), tonumber(facts), tonumber(set)
leave, slots = tonumber(leave), tonumber(slots)
local takes = lease == 'take'
local have = redis.call('HMGET', run, 'head', 'owner', 'until')
local rev, last = string.match(have[1] or '0', '^(%d+) ?(%S*)')
if not rev then return redis.error_reply('MISSING the revision of ' .. id) end

local function reply(word, taken)
  local answer = {word, now, taken and 1 or 0}
  if logs == '1' or slots < #ARGV then
    answer[4] = logs == '1' and redis.call('LRANGE', KEYS[2], 0, -1) or {}
    answer[5] = slots < #ARGV and redis.call('HMGET', run, unpack(ARGV, slots + 1)) or {}
  end
  return answer
end

if last == token then return reply('yours', takes and redis.call('HGET', run, 'claim') == token) end
if owner ~= '-' and not takes and have[2] ~= owner then return {'not owner', now} end
if rev ~= expected then return {'conflict', now, tonumber(rev), redis.call('HGET', run, 'state')} end
if limit ~= '0' and now > tonumber(limit) then return {'late', now} end

local moved = {}
if string.find(kinds, '@', 1, true) then
  for i = fields + 1, entries do
    if string.byte(kinds, i - fields) == 64 then
      moved[#moved + 1] = ARGV[i]
      ARGV[i] = redis.call('HGET', run, ARGV[i])
      if not ARGV[i] then return redis.error_reply('MISSING the text ' .. moved[#moved] .. ' of ' .. id) end
    end
  end
end

-- From here on, writes. The first is one that is refused when memory is full.
-- Lua's stack holds a few thousand arguments, so long lists go in pieces.
local function each(command, key, list, from, to)
  while from <= to do
    local upto = math.min(from + 999, to)
    redis.call(command, key, unpack(list, from, upto))
    from = upto + 1
  end
end

local leased = lease == 'keep' or ((owner == '-' or takes) and have[2] and tonumber(have[3]) > now)
local upto = math.min(fields, 1002)
local head = (expected + 1) .. ' ' .. token .. ' ' .. string.format('%.0f', now) .. ' ' .. needs
if leased then
  redis.call('HSET', run, 'head', head, 'wake', wake, 'state', ARGV[2], unpack(ARGV, 3, upto))
elseif takes then
  local ends = now + length
  redis.call('HSET', run, 'head', head, 'owner', owner, 'until', ends, 'claim', token, 'state', ARGV[2], unpack(ARGV, 3, upto))
  redis.call('ZADD', KEYS[4], ends, id)
else
  redis.call('HSET', run, 'head', head, 'state', ARGV[2], unpack(ARGV, 3, upto))
  redis.call('ZADD', KEYS[4], wake == '0' and now or wake, id)
end
each('HSET', run, ARGV, upto + 1, fields)
if lease == 'release' then redis.call('HDEL', run, 'owner', 'until', 'wake', 'claim') end
each('HDEL', run, moved, 1, #moved)
each('RPUSH', KEYS[2], ARGV, fields + 1, entries)
for i = entries + 1, facts do redis.call('XADD', KEYS[6], '*', 'run', id, 'fact', ARGV[i]) end
for i = facts + 1, set, 2 do redis.call('ZADD', KEYS[7] .. ARGV[i], ARGV[i + 1], id) end
for i = set + 1, leave do redis.call('ZREM', KEYS[7] .. ARGV[i], id) end
for i = leave + 1, slots, 2 do redis.call('HSETNX', KEYS[3], 'slot:' .. ARGV[i], ARGV[i + 1]) end
if shows == '1' then redis.call('ZADD', KEYS[5], now, id) end
return reply('done', takes and not leased)
