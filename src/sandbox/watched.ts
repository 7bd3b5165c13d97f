/**
 * How a child process is kept from outliving this one, also when this one is killed. It knows nothing of what the child is.
 */

/**
 * The command of a child whose stdin is a pipe of ours: `sh` becomes the program, and a watcher beside it holds the pipe.
 * When this process is gone, however it went, the watcher's `cat` ends and it does `end` (shell words; `$$` is the
 * program's pid, as `exec` keeps it). The program itself reads nothing from the pipe.
 */
export function watched(program: string, args: readonly string[], end: string): [string, string[]] {
  const script = `exec 3<&0; (cat <&3 >/dev/null 2>&1; ${end}) >/dev/null 2>&1 & exec "$@" 3<&- </dev/null`
  return ["sh", ["-c", script, "sh", program, ...args]]
}
