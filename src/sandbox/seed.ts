/**
 * The people, channels and groups that a fresh local Slack begins with. Data only.
 */
import type { Channel, Group, Person } from "./directory.ts"

export const TEAM = { id: "T1", domain: "sandbox", name: "Sandbox" }
export const APP_ID = "A0APP"
export const BOT_ID = "B0BOT"
export const BOT = "U0BOT"
export const ROBIN = "U0REQ"
export const ADA = "U0APP1"
export const GRACE = "U0APP2"
export const OSCAR = "U0OUT"
export const SRE = "S0SRE"
export const OPS = "C0OPS"
export const AUDIT = "C0AUDIT"
export const NO_BOT = "C0NOBOT"

/** What the app was granted; a test takes one away to see what is missed. */
export const SCOPES = [
  "commands",
  "chat:write",
  "users:read",
  "usergroups:read",
  "im:write",
  "channels:read",
  "groups:read",
  "im:read",
  "channels:history",
  "groups:history",
  "im:history",
]

const person = (id: string, name: string, real_name: string, role: Person["role"]): Person => ({
  id,
  name,
  real_name,
  role,
  team_id: TEAM.id,
  deleted: false,
  is_bot: role === "bot",
  is_restricted: false,
  is_ultra_restricted: false,
  is_stranger: false,
})

export function seedPeople(): Person[] {
  return [
    person(ROBIN, "robin", "Robin", "requester"),
    person(ADA, "ada", "Ada", "approver"),
    person(GRACE, "grace", "Grace", "approver"),
    person(OSCAR, "oscar", "Oscar", "outsider"),
    person(BOT, "countersign", "Countersign", "bot"),
  ]
}

export function seedChannels(): Channel[] {
  const people = [ROBIN, ADA, GRACE, OSCAR]
  const open = { is_archived: false, is_ext_shared: false }
  return [
    { id: OPS, name: "ops", kind: "channel", members: [BOT, ...people], ...open },
    { id: AUDIT, name: "audit", kind: "private", members: [BOT, ADA, GRACE], ...open },
    { id: NO_BOT, name: "no-bot", kind: "channel", members: people, ...open },
  ]
}

export function seedGroups(): Group[] {
  return [{ id: SRE, handle: "sre", name: "Site reliability", users: [ADA, GRACE], disabled: false }]
}
