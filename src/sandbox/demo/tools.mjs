/**
 * The three harmless tools of the demo: an imaginary fleet of services, kept in memory. A tools module's default
 * export is an array of tools; plain objects of the shape will do.
 */
const SERVICES = ["web", "api", "worker"]
const fleet = new Map(SERVICES.map((name) => [name, { replicas: 3, restarts: 0, healthy: name !== "web" }]))

const counted = (count, thing) => `${count} ${thing}${count === 1 ? "" : "s"}`
const service = { type: "string", enum: SERVICES, description: "Which service" }
const pause = (ms, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(new Error("stopped before it was finished"))
    })
  })

export default [
  {
    name: "get_status",
    description: "Says how a service is doing. Changes nothing.",
    effects: "none",
    inputSchema: { type: "object", properties: { service }, required: ["service"], additionalProperties: false },
    run({ service }) {
      const { replicas, restarts, healthy } = fleet.get(service)
      const health = healthy ? "healthy" : "answering slowly (p99 4.2 s)"
      return `${service}: ${counted(replicas, "replica")}, ${health}, restarted ${counted(restarts, "time")} since the demo began`
    },
  },
  {
    name: "restart_service",
    description: "Restarts all replicas of a service, one after the other.",
    effects: "once",
    inputSchema: { type: "object", properties: { service }, required: ["service"], additionalProperties: false },
    summary: ({ service }) => `Restart all replicas of the ${service} service, one after the other`,
    async run({ service }, ctx) {
      await pause(2000, ctx?.signal)
      const state = fleet.get(service)
      fleet.set(service, { ...state, restarts: state.restarts + 1, healthy: true })
      return `${service}: ${state.replicas} of ${state.replicas} replicas restarted, all healthy`
    },
  },
  {
    name: "scale_service",
    description: "Sets the number of replicas of a service.",
    effects: "repeatable",
    inputSchema: {
      type: "object",
      properties: { service, replicas: { type: "integer", minimum: 1, maximum: 20 } },
      required: ["service", "replicas"],
      additionalProperties: false,
    },
    summary: ({ service, replicas }) => `Run ${counted(replicas, "replica")} of the ${service} service`,
    async run({ service, replicas }, ctx) {
      await pause(1000, ctx?.signal)
      fleet.set(service, { ...fleet.get(service), replicas })
      return `${service}: now ${counted(replicas, "replica")}`
    },
  },
]
