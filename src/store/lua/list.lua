-- The newest runs of several indexes, each run once, with its state. Entries whose run is gone are cleaned away.
--
-- KEYS 1 index (what comes before an index' name)
--
-- ARGV 1 what comes before a run's id in the name of its hash   2 how many at most   3.. names of indexes
--
-- Returns {now, {score, revision, state}, …}, newest first
local time = redis.call('TIME')
local limit = tonumber(ARGV[2])
local best, found = {}, {}
for i = 3, #ARGV do
  local index = KEYS[1] .. ARGV[i]
  local entries = redis.call('ZREVRANGE', index, 0, limit - 1, 'WITHSCORES')
  for j = 1, #entries, 2 do
    local id, score = entries[j], tonumber(entries[j + 1])
    if best[id] then
      best[id].score = math.max(best[id].score, score)
    else
      -- One that can't be read is left out, and fails nothing.
      local have = redis.pcall('HMGET', ARGV[1] .. id, 'head', 'state')
      local rev = string.match(have[1] or '', '^(%d+) %S+ %d+ %d+ %S*$')
      if rev and have[2] then
        best[id] = {score = score, rev = tonumber(rev), state = have[2]}
        found[#found + 1] = best[id]
      elseif not have.err and not have[1] then
        redis.call('ZREM', index, id)
      end
    end
  end
end
table.sort(found, function(a, b) return a.score > b.score end)
local reply = {time[1] * 1000 + math.floor(time[2] / 1000)}
for i = 1, math.min(limit, #found) do
  reply[i + 1] = {string.format('%.0f', found[i].score), found[i].rev, found[i].state}
end
return reply
