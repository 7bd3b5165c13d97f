-- A run has no messages any more that may still change, unless another such call was noted since.
--
-- KEYS 1 runs with messages that may still change (zset)
--
-- ARGV 1 run id   2 its score as it was seen
--
-- Returns 1 when it left, 0 when it stays
if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('ZREM', KEYS[1], ARGV[1])
