/** The first thing in a text that looks like a version: "git version 2.39.5", "tmux 3.3a", "go version go1.22.1 linux/amd64". */
export function versionIn(text: string | undefined): string | undefined {
  return /(?<![\d.])\d+(?:\.\d+)+[a-z]?(?![a-z])/.exec(text ?? '')?.[0]
}
