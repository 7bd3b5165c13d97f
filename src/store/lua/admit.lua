-- Gives a run that is about to be stored its place in lists of limited length, in all of them or in none. What was given a
-- place and was never stored loses it when the list is full, after a minute.
--
-- KEYS 1 run (hash)   2 index (what comes before an index' name)
--
-- ARGV 1 run id   2 what comes before a run's id in the name of its hash   3.. name of an index, its greatest length here
--
-- Returns {0} when it has its places, or is stored already; else {which index is full, counted from 1, its length}
local id = ARGV[1]
if redis.call('EXISTS', KEYS[1]) == 1 then return {0} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function length(index)
  return redis.call('ZCARD', index)
end

for i = 3, #ARGV, 2 do
  local index, most = KEYS[2] .. ARGV[i], tonumber(ARGV[i + 1])
  if not redis.call('ZSCORE', index, id) and length(index) >= most then
    for _, other in ipairs(redis.call('ZRANGEBYSCORE', index, '-inf', now - 60000)) do
      if redis.call('EXISTS', ARGV[2] .. other) == 0 then redis.call('ZREM', index, other) end
    end
    if length(index) >= most then return {(i - 1) / 2, length(index)} end
  end
end
for i = 3, #ARGV, 2 do redis.call('ZADD', KEYS[2] .. ARGV[i], now, id) end
return {0}
