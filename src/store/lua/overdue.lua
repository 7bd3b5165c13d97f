-- Runs of which an open ask is overdue or to be reminded of, as their heads say; what has been on the agenda longest first.
-- Each is put off for a while, so that nobody else takes it meanwhile, and leased to nobody: whoever asked commits what has
-- become of it, and that says when it is due. Should they die, it is due again when that while is over.
--
-- KEYS 1 agenda (zset)
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 newest format that the caller reads   3 how many at most
--      4 ms for which they are put off   5 place on the agenda where to begin, from 0
--
-- Returns {now, place where to go on or '' when all that is due was seen, when the next ask of these and the next run on the
--         agenda is due or '', {id, revision, state}, …}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local newest, most, off = tonumber(ARGV[2]), tonumber(ARGV[3]), now + tonumber(ARGV[4])
local from, soonest = tonumber(ARGV[5]), math.huge
local reply = {now, '', ''}
local kept = 0

local due = redis.call('ZRANGE', KEYS[1], from, from + 499, 'WITHSCORES')
for i = 1, #due, 2 do
  local id, score = due[i], tonumber(due[i + 1])
  if score > now then
    soonest = math.min(soonest, score)
    break
  end
  if #reply - 3 >= most then
    reply[2] = from + kept
    break
  end
  kept = kept + 1
  -- A key of another type must not fail this for all other runs.
  local have = redis.pcall('HMGET', ARGV[1] .. id, 'head', 'state')
  local rev, format, ask = string.match(have[1] or '', '^(%d+) %S+ %d+ (%d+) [^ !]*!(%d+)$')
  if rev and tonumber(format) <= newest then
    ask = tonumber(ask)
    if ask > now then
      soonest = math.min(soonest, ask)
    else
      redis.call('ZADD', KEYS[1], off, id)
      kept = kept - 1
      reply[#reply + 1] = {id, tonumber(rev), have[2]}
    end
  end
end
if reply[2] == '' and kept + #reply - 3 == 500 then reply[2] = from + kept end
if soonest < math.huge then reply[3] = string.format('%.0f', soonest) end
return reply
