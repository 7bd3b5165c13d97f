/** Three tools that nothing is done with but looking at them. */
const service = { type: "string", enum: ["web", "api", "worker"] }
const schema = (properties) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

export default [
  { name: "get_status", description: "Tells how the services are", effects: "none", run: async () => "healthy" },
  {
    name: "restart_service",
    description: "Restarts all replicas of a service",
    inputSchema: schema({ service }),
    run: async () => "restarted",
  },
  {
    name: "scale_service",
    description: "Sets the number of replicas of a service",
    inputSchema: schema({ service, replicas: { type: "integer" } }),
    run: async () => "scaled",
  },
]
