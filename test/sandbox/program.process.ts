/** A process that needs the program named first in its arguments, as the user id named second, and prints the outcome. */
import { needProgram } from "../../src/sandbox/program.ts"

const [, , name = "", uid = ""] = process.argv
if (uid !== "") process.getuid = () => Number(uid)
const wanted = { names: ["never-there", name], debianPackage: "a-package", elsewhere: "Build it yourself." }
process.stdout.write(`${JSON.stringify(await needProgram(wanted))}\n`)
