-- Puts runs that are on the agenda onto the show agenda, a piece at a time; those that are there already keep their place.
--
-- KEYS 1 agenda (zset)   2 show agenda (zset)
--
-- ARGV 1 cursor of the piece, '0' for the first
--
-- Returns the cursor of the next piece, '0' after the last
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local found = redis.call('ZSCAN', KEYS[1], ARGV[1], 'COUNT', 500)
local entries = {}
for i = 1, #found[2], 2 do
  entries[#entries + 1] = now
  entries[#entries + 1] = found[2][i]
end
if #entries > 0 then redis.call('ZADD', KEYS[2], 'NX', unpack(entries)) end
return found[1]
