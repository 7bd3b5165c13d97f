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
export const LENA = "U0LEAD"
/** A guest, and somebody of another organisation. */
export const GUS = "U0GUS"
export const FAY = "U0FAY"
export const FAY_TEAM = "T2"
export const SRE = "S0SRE"
export const LEADS = "S0LEADS"
export const OPS = "C0OPS"
export const AUDIT = "C0AUDIT"
export const NO_BOT = "C0NOBOT"
/** Private and unshared, for those who decide and for those to whom it is handed on. */
export const APPROVALS = "C0APPROVALS"
export const LEADS_ROOM = "C0LEADS"
/** Shared with the other organisation. */
export const SHARED = "C0SHARED"

/** What the app was granted, as its manifest asks; a test takes one away to see what is missed. */
export const SCOPES = [
  "commands",
  "chat:write",
  "users:read",
  "usergroups:read",
  "im:write",
  "channels:read",
  "groups:read",
  "channels:history",
  "groups:history",
  "files:read",
  "app_mentions:read",
  "im:history",
  "assistant:write",
]

const person = (
  id: string,
  name: string,
  real_name: string,
  role: Person["role"],
  more: Partial<Person> = {},
): Person => ({
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
  ...more,
})

export function seedPeople(): Person[] {
  return [
    person(ROBIN, "robin", "Robin", "requester"),
    person(ADA, "ada", "Ada", "approver"),
    person(GRACE, "grace", "Grace", "approver"),
    person(OSCAR, "oscar", "Oscar", "outsider"),
    person(LENA, "lena", "Lena", "lead"),
    person(GUS, "gus", "Gus", "guest", { is_restricted: true }),
    person(FAY, "fay", "Fay", "foreigner", { team_id: FAY_TEAM, is_stranger: true }),
    person(BOT, "countersign", "Countersign", "bot"),
  ]
}

export function seedChannels(): Channel[] {
  const people = [ROBIN, ADA, GRACE, OSCAR, LENA]
  const open = { is_archived: false, is_ext_shared: false }
  return [
    { id: OPS, name: "ops", kind: "channel", members: [BOT, ...people, GUS], ...open },
    { id: SHARED, name: "shared", kind: "channel", members: [BOT, ...people, FAY], ...open, is_ext_shared: true },
    { id: NO_BOT, name: "no-bot", kind: "channel", members: people, ...open },
    { id: APPROVALS, name: "approvals", kind: "private", members: [BOT, ADA, GRACE], ...open },
    { id: LEADS_ROOM, name: "leads", kind: "private", members: [BOT, LENA], ...open },
    { id: AUDIT, name: "audit", kind: "private", members: [BOT, ADA, GRACE], ...open },
  ]
}

export function seedGroups(): Group[] {
  return [
    { id: SRE, handle: "sre", name: "Site reliability", users: [ADA, GRACE], disabled: false },
    { id: LEADS, handle: "leads", name: "Leads", users: [LENA], disabled: false },
  ]
}
