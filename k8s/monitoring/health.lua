-- The health of a Takara for Argo CD, as kstatus sees it: Stalled is Degraded, and a status about an older generation
-- says nothing.
local health = {status = "Progressing", message = "takara-sync has not seen this version of the Takara yet"}

if obj.metadata.deletionTimestamp ~= nil then
  health.message = "The Takara is being deleted"
  return health
end
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return health
end
for _, condition in ipairs(obj.status.conditions or {}) do
  if condition.type == "Stalled" and condition.status == "True" then
    return {status = "Degraded", message = condition.message}
  end
  if condition.type == "Ready" then
    health.message = condition.message
    if condition.status == "True" then
      health.status = "Healthy"
    elseif condition.reason == "Paused" then
      health.status = "Suspended"
    end
  end
end
return health
