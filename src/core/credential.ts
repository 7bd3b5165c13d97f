/**
 * Whether a form field asks for a credential: a person's password, key, token, code or payment secret must never be
 * typed into a form of ours. Reads names and labels only, and rather refuses one too many.
 */

/** Any word that contains one of these, and words that say one together: `API key`, `api_key`, `apiKey`, `dbApikey`. */
const ANYWHERE = listed(`
  password passwd passwort kennwort contrasena passphrase passcode credential apikey accesskey secretkey privatekey
  signingkey encryptionkey sshkey masterkey sharedkey accesstoken authtoken refreshtoken bearertoken sessiontoken apitoken
  personaltoken clientsecret appsecret sharedsecret secretaccess sessioncookie authorizationheader seedphrase
  recoveryphrase recoverycode backupcode onetimecode verificationcode securitycode authenticatorcode logincode accesscode
  twofactorcode creditcard debitcard cardnumber cardverification connectionstring socialsecurity`)

/** Words, alone or together, that mean a credential only as they stand: inside others they mean nothing. */
const EXACTLY = new Set(
  listed(`
  pwd pswd pw pin pincode secret secrets token idtoken jwt otp totp 2fa mfa 2facode mfacode smscode cvv cvv2 cvc cvc2 csc
  cvn ssn creds motdepasse senha userpass dbpass passkey mnemonic cardno cardnum cardpin cardcode primaryaccountnumber`),
)

/** Squashed names: `githubtoken`, `hmacsecret`. */
const ENDINGS = ["token", "secret", "pwd"]

/** After one of these words the text speaks about a credential and doesn't ask for it: `secret_name`, `password policy`. */
const ABOUT = new Set(listed("name names policy policies type types length count limit budget usage rotation manager"))

/** Before `token` these make it a quantity. */
const COUNTING = new Set(["max", "maximum", "min", "minimum", "per", "total"])

/** No phrase of ours has more words. */
const LONGEST = 4

/** The credential that `text` (a name, a title or a description) asks for; undefined when it asks for none. */
export function credentialWord(text: string): string | undefined {
  const words = wordsOf(text)
  // In a sentence "pin" is mostly a verb; the secret is written PIN there.
  const verb = words.length > 3 && !/\bPINs?\b|\byour pin\b/.test(text)
  for (const [index, word] of words.entries()) {
    if (word === "pin" && verb) continue
    const found = foundAt(words, index)
    if (found !== undefined) return found
  }
  return words.length <= 2 && words.at(-1) === "pass" ? "pass" : undefined
}

function foundAt(words: string[], index: number): string | undefined {
  const quantity = words[index] === "token" && COUNTING.has(words[index - 1] ?? "")
  let phrase = ""
  for (const [offset, word] of words.slice(index, index + LONGEST).entries()) {
    phrase += word
    const found = offset === 0 ? inWord(word) : inPhrase(phrase)
    if (found !== undefined && !quantity && !ABOUT.has(words[index + offset + 1] ?? "")) return found
  }
  return undefined
}

function inWord(word: string): string | undefined {
  const stem = ANYWHERE.find((stem) => word.includes(stem))
  return stem ?? (EXACTLY.has(word) || ENDINGS.some((ending) => word.endsWith(ending)) ? word : undefined)
}

function inPhrase(phrase: string): string | undefined {
  return EXACTLY.has(phrase) ? phrase : ANYWHERE.find((stem) => phrase === stem || phrase === `${stem}s`)
}

function listed(words: string): string[] {
  return words.trim().split(/\s+/)
}

/** Lower-case words without accents: split at anything that is no letter or digit, and where a camel's hump begins. */
function wordsOf(text: string): string[] {
  return text
    .normalize("NFKD")
    .replace(/\p{M}|\p{Cf}/gu, "")
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
}
