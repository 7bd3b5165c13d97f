/** What people may ask the demo's agent for. Of its own, since the page shows it as well, and runs in a browser. */

/** What its named agents may be asked for, behind their names. */
export const TO_AGENTS = ["@deploy ship api 1.9.0 to prod", "@oncall restart the api tier"]

/** What the demo understands, for the page's hint and the answer to anything else. */
export const EXAMPLES = [
  "how is the web tier?",
  "restart the web tier",
  "scale api to 5",
  "restart web and scale worker to 6",
  "deploy web 2.4.1 to prod",
  "plan maintenance for api",
  "page whoever is on call for web",
  "hand web over to the next shift",
  "explain how you work",
]
