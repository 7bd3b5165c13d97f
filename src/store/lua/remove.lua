-- Deletes all keys of a run together, once everything about it was shown and audited. Until then the run is leased to
-- nobody, and due again in a minute.
--
-- KEYS 1 run (hash)   2 log (list)   3 show (hash)   4 agenda (zset)   5 show agenda: cards (zset)
--      6 show agenda: rest (zset)   7 outbox (stream)   8 index (what comes before an index' name)
--      9 runs with messages that may still change (zset)
--
-- ARGV 1 run id   2 revision that the caller saw; 0 when it saw none   3 '1' when somebody takes facts from the outbox
--      4.. names of the indexes that the run is in
--
-- Returns 'removed', 'moved' when another revision stands, or 'busy' while something is still to be shown or audited
local id = ARGV[1]
local time = redis.call('TIME')

local function busy()
  redis.call('HDEL', KEYS[1], 'owner', 'until', 'wake', 'claim')
  redis.call('ZADD', KEYS[4], time[1] * 1000 + 60000, id)
  return 'busy'
end

local head = redis.call('HGET', KEYS[1], 'head')
local rev, at = string.match(head or '0', '^(%d+) ?%S* ?(%d*)')
if tonumber(rev) ~= tonumber(ARGV[2]) then return 'moved' end
if head then
  for _, shown in ipairs({KEYS[5], KEYS[6], KEYS[9]}) do
    if redis.call('ZSCORE', shown, id) then return busy() end
  end
  -- The outbox is in the order of time: when its first entry is younger than the run's last, none is of this run. An entry
  -- is stamped when it is added, which on a busy server is later than the commit's own time.
  local oldest = ARGV[3] == '1' and redis.call('XRANGE', KEYS[7], '-', '+', 'COUNT', 1)[1]
  if oldest and tonumber(string.match(oldest[1], '^%d+')) <= tonumber(at) + 1000 then return busy() end
end
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
redis.call('ZREM', KEYS[4], id)
redis.call('ZREM', KEYS[5], id)
redis.call('ZREM', KEYS[6], id)
for i = 4, #ARGV do redis.call('ZREM', KEYS[8] .. ARGV[i], id) end
return 'removed'
