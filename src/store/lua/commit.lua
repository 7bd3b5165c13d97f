-- Swaps revision n of a run for n+1, together with all that goes beside it; for several runs of one shard one after the
-- other, of which each is stored or refused as if it came alone. Knows nothing of what a state means, and decodes no JSON. Of
-- a run everything is checked before its first write, because an error later would roll nothing back.
--
-- A run's small fields share one, `head`: '<revision> <token of the last commit> <its time, ms> <format> <what its next
-- worker needs: transcript, or names of fields with commas between>!<when an open ask is overdue or to be reminded of, ms>',
-- because in a hash each field costs more than these hold. Without such an ask it ends before the '!'.
--
-- KEYS 1 agenda (zset)   2 show agenda: cards (zset)   3 show agenda: rest (zset)   4 outbox (stream)
--      5 index (what comes before an index' name)   6.. of each run: run (hash) · log (list) · show (hash)
--
-- ARGV of each run: 1 with blanks between, since one argument of many words costs less than many arguments:
--        how many arguments are this run's
--        run id
--        owner of the lease, '-' for everybody else
--        revision that is replaced, 0 creates the run
--        token of this commit: the same when it is sent again
--        not after, ms by this server's clock; 0 is no limit
--        'keep' or 'release' the lease, or '-' without an owner; 'take' it if nobody's stands, as a claim would
--        length of the lease that is taken, ms
--        score for the agenda: when the run next needs a worker, 0 for now
--        the show agenda that the run goes to: 2 or 3 as in KEYS, 0 for none
--        1 returns the transcript
--        a letter for each transcript entry, '-' without any: '=' is the entry itself, '@' the field that is moved there
--        where the groups of arguments end that follow: fields, transcript entries, facts, indexes to set, indexes to leave, slots
--        format of the state and what is needed next, as `head` ends
--      2 state
--      3.. fields to set (field, value) · transcript entries · facts for the outbox · indexes to set (name, score) · indexes to
--          leave · slots (name, data) · fields to return
--
-- Returns for each run
--         {'done' | 'yours', now, 1 when the lease was taken with it, transcript, fields returned}: stored now, or stored
--           before under this token; the last two only when something is asked for
--         {'conflict', now, revision, state}: another revision stands (0 and no state: none)
--         {'late', now}: the revision stands, but the time is over
--         {'not owner', now}: the lease is another's by now, or was given back
--         {'error', words}: of this run alone; nothing of it is stored
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local AGENDA, OUTBOX, INDEX = KEYS[1], KEYS[4], KEYS[5]
local WORDS = '^%S+ (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (%S+) (.*)$'

-- Lua's stack holds a few thousand arguments, so long lists go in pieces.
local function each(command, key, list, from, to)
  while from <= to do
    local upto = math.min(from + 999, to)
    redis.call(command, key, unpack(list, from, upto))
    from = upto + 1
  end
end

-- `before`: how many arguments come before this run's; `last`: its last one.
local function commit(run, log, show, before, last)
  local id, owner, expected, token, limit, lease, length, wake, shows, logs, kinds, fields, entries, facts, set, leave, slots, needs =
    string.match(ARGV[before + 1], WORDS)
  fields, entries, facts, set = before + fields, before + entries, before + facts, before + set
  leave, slots = before + leave, before + slots
  local takes = lease == 'take'
  local have = redis.call('HMGET', run, 'head', 'owner', 'until')
  local rev, last_token = string.match(have[1] or '0', '^(%d+) ?(%S*)')
  if not rev then return {'error', 'MISSING the revision of ' .. id} end

  local function reply(word, taken)
    local answer = {word, now, taken and 1 or 0}
    if logs == '1' or slots < last then
      answer[4] = logs == '1' and redis.call('LRANGE', log, 0, -1) or {}
      answer[5] = slots < last and redis.call('HMGET', run, unpack(ARGV, slots + 1, last)) or {}
    end
    return answer
  end

  if last_token == token then return reply('yours', takes and redis.call('HGET', run, 'claim') == token) end
  if owner ~= '-' and not takes and have[2] ~= owner then return {'not owner', now} end
  if rev ~= expected then return {'conflict', now, tonumber(rev), redis.call('HGET', run, 'state')} end
  if limit ~= '0' and now > tonumber(limit) then return {'late', now} end

  local moved = {}
  if string.find(kinds, '@', 1, true) then
    for i = fields + 1, entries do
      if string.byte(kinds, i - fields) == 64 then
        moved[#moved + 1] = ARGV[i]
        ARGV[i] = redis.call('HGET', run, ARGV[i])
        if not ARGV[i] then return {'error', 'MISSING the text ' .. moved[#moved] .. ' of ' .. id} end
      end
    end
  end

  -- From here on, writes. The first is one that is refused when memory is full.
  local leased = lease == 'keep' or ((owner == '-' or takes) and have[2] and tonumber(have[3]) > now)
  local upto = math.min(fields, before + 1002)
  local head = (expected + 1) .. ' ' .. token .. ' ' .. string.format('%.0f', now) .. ' ' .. needs
  local state = ARGV[before + 2]
  if leased then
    redis.call('HSET', run, 'head', head, 'wake', wake, 'state', state, unpack(ARGV, before + 3, upto))
  elseif takes then
    local ends = now + length
    redis.call('HSET', run, 'head', head, 'owner', owner, 'until', ends, 'claim', token, 'state', state, unpack(ARGV, before + 3, upto))
    redis.call('ZADD', AGENDA, ends, id)
  else
    redis.call('HSET', run, 'head', head, 'state', state, unpack(ARGV, before + 3, upto))
    redis.call('ZADD', AGENDA, wake == '0' and now or wake, id)
  end
  each('HSET', run, ARGV, upto + 1, fields)
  if lease == 'release' then redis.call('HDEL', run, 'owner', 'until', 'wake', 'claim') end
  each('HDEL', run, moved, 1, #moved)
  each('RPUSH', log, ARGV, fields + 1, entries)
  for i = entries + 1, facts do redis.call('XADD', OUTBOX, '*', 'run', id, 'fact', ARGV[i]) end
  for i = facts + 1, set, 2 do redis.call('ZADD', INDEX .. ARGV[i], ARGV[i + 1], id) end
  for i = set + 1, leave do redis.call('ZREM', INDEX .. ARGV[i], id) end
  for i = leave + 1, slots, 2 do redis.call('HSETNX', show, 'slot:' .. ARGV[i], ARGV[i + 1]) end
  if shows ~= '0' then redis.call('ZADD', KEYS[tonumber(shows)], now, id) end
  return reply('done', takes and not leased)
end

local replies = {}
local before = 0
for i = 6, #KEYS, 3 do
  local count = string.match(ARGV[before + 1], '^%d+')
  local ok, reply = pcall(commit, KEYS[i], KEYS[i + 1], KEYS[i + 2], before, before + count)
  -- What Redis refuses (it is full, or may not write) it says in a table, and before version 7 in a text.
  replies[#replies + 1] = ok and reply or {'error', type(reply) == 'table' and reply.err or tostring(reply)}
  before = before + count
end
return replies
