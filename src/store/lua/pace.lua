-- Takes a call of a kind that Slack limits, under every limit at once or under none. Each limit is a bucket: what is stored
-- is when the last call would be due at the steady rate.
--
-- KEYS 1 pace (hash)
--
-- ARGV 1 the time, ms; '' for this server's
--      2.. for each limit its name, the ms from one call to the next, how many calls may come at once after a rest, and how
--          many of those are left to others
--
-- Returns {when it may be made, ms: up to now it is taken; which limit says so, from 1; now}
local time = redis.call('TIME')
local now = tonumber(ARGV[1]) or time[1] * 1000 + math.floor(time[2] / 1000)
local free, limit = 0, 1
local due = {}
for i = 2, #ARGV, 4 do
  local each = tonumber(ARGV[i + 1])
  due[i] = tonumber(redis.call('HGET', KEYS[1], ARGV[i]) or '0')
  local at = due[i] - each * (tonumber(ARGV[i + 2]) - 1 - tonumber(ARGV[i + 3]))
  if at > free then free, limit = at, (i + 2) / 4 end
end
if free <= now then
  for i = 2, #ARGV, 4 do
    redis.call('HSET', KEYS[1], ARGV[i], string.format('%.0f', math.max(now, due[i]) + tonumber(ARGV[i + 1])))
  end
end
return {math.ceil(free), limit, now}
