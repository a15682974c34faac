/** What a person has said yes to in this turn: one act is not asked about twice, and one yes is not two. */
export class Allowed {
  #writes = new Map<string, string>()
  #commands = new Set<string>()
  #always = new Set<string>()
  #edits = false

  write(path: string, after: string): void {
    this.#writes.set(path, after)
  }

  /** Once, or the same command as often as it comes. */
  command(line: string, always: boolean): void {
    const allowed = always ? this.#always : this.#commands
    allowed.add(line.trim())
  }

  /** Every edit in the project from now on. */
  edits(): void {
    this.#edits = true
  }

  get hasEdits(): boolean {
    return this.#edits
  }

  hasCommandAlways(line: string): boolean {
    return this.#always.has(line.trim())
  }

  /** Whether this very text may be written there; the yes is spent then. */
  takeWrite(path: string, after: string): boolean {
    return this.#writes.get(path) === after && this.#writes.delete(path)
  }

  /** Whether this very command may be run; a yes for once is spent then. */
  takeCommand(line: string): boolean {
    return this.hasCommandAlways(line) || this.#commands.delete(line.trim())
  }
}
