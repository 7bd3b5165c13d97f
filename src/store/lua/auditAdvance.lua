-- Moves the audit's cursor on and trims the outbox behind it, as long as the lease is the caller's.
--
-- KEYS 1 lease (string)   2 audit (hash)   3 outbox (stream)
--
-- ARGV 1 owner   2 first outbox id to keep, '' to trim nothing   3.. field, value, …
--
-- Returns 1 when it was stored, 0 when the lease is another's
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if #ARGV > 2 then redis.call('HSET', KEYS[2], unpack(ARGV, 3)) end
if ARGV[2] ~= '' then redis.call('XTRIM', KEYS[3], 'MINID', ARGV[2]) end
return 1
