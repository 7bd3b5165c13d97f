-- Changes a text that stands by itself, if it is what somebody last saw.
--
-- KEYS 1 text (string)
--
-- ARGV 1 what it must be; empty: there must be none   2 what it becomes; empty: it goes   3 how long it stays, ms
--
-- Returns 1 when it is so now, also when it was so before (a repetition), else 0
local now = redis.call('GET', KEYS[1]) or ''
if now == ARGV[2] then return 1 end
if now ~= ARGV[1] then return 0 end
if ARGV[2] == '' then redis.call('DEL', KEYS[1]) else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
return 1
