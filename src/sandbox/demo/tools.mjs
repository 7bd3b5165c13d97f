/**
 * The harmless tools of the demo: an imaginary fleet of services, kept in memory. A tools module's default export is an
 * array of tools; plain objects of the shape will do.
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

/** A tool's own question: the run waits until it is answered, and the tool is called again with the answer. */
const asks = (request) => ({
  output: request.prompt,
  isError: true,
  metadata: { pending: { id: `demo-${crypto.randomUUID()}`, ...request } },
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
  {
    name: "deploy",
    description: "Puts a version of a service into an environment.",
    effects: "once",
    destructive: true,
    inputSchema: {
      type: "object",
      properties: {
        service,
        version: { type: "string", minLength: 1, maxLength: 40, description: "Which version" },
        env: { type: "string", enum: ["staging", "prod"], description: "Where to" },
      },
      required: ["service", "version", "env"],
      additionalProperties: false,
    },
    summary: ({ service, version, env }) => `Put ${service} ${version} into ${env}; what runs there is replaced`,
    async run({ service, version, env }, ctx) {
      await pause(2000, ctx?.signal)
      return `${service}: version ${version} runs in ${env}`
    },
  },
  {
    name: "plan_maintenance",
    description: "Announces a maintenance window of a service. Asks for its details.",
    effects: "repeatable",
    inputSchema: { type: "object", properties: { service }, required: ["service"], additionalProperties: false },
    summary: ({ service }) => `Announce a maintenance window of the ${service} service`,
    run({ service }, ctx) {
      const data = ctx?.answer?.data
      if (data) {
        const told = data.tellCustomers ? "customers are told" : "customers are not told"
        return `${service}: maintenance on ${data.day} for ${data.minutes} minutes (${data.kind}), ${told}`
      }
      return asks({
        kind: "input",
        prompt: `When is the maintenance of ${service}, and how long does it take?`,
        data: {
          schema: {
            type: "object",
            properties: {
              day: { type: "string", format: "date", title: "Day" },
              minutes: { type: "integer", title: "Minutes", minimum: 5, maximum: 240, default: 30 },
              kind: {
                type: "string",
                title: "Kind",
                enum: ["update", "repair", "drill"],
                enumNames: ["An update", "A repair", "A drill"],
              },
              tellCustomers: { type: "boolean", title: "Tell customers", default: true },
            },
            required: ["day", "minutes", "kind", "tellCustomers"],
          },
        },
      })
    },
  },
  {
    name: "page_oncall",
    description: "Calls whoever is on call for a service. Needs a sign-in to the pager first.",
    effects: "once",
    authorizationHosts: ["pager.example.com"],
    inputSchema: { type: "object", properties: { service }, required: ["service"], additionalProperties: false },
    summary: ({ service }) => `Call whoever is on call for the ${service} service`,
    run({ service }, ctx) {
      if (ctx?.answer) return `${service}: the person on call was paged`
      const url = `https://pager.example.com/connect?service=${service}`
      return asks({ kind: "authorization", prompt: "Sign in to the pager, so that I may page in your name", url })
    },
  },
]
