/** What a person has said yes to in this turn, so that one act is not asked about twice. */
export class Allowed {
  #writes = new Map<string, string>()
  #commands = new Set<string>()
  #always = new Set<string>()
  #edits = false

  write(path: string, after: string): void {
    this.#writes.set(path, after)
  }

  command(line: string): void {
    this.#commands.add(line.trim())
  }

  /** The same command, as often as it comes. */
  commandAlways(line: string): void {
    this.#always.add(line.trim())
  }

  /** Every edit in the project from now on. */
  edits(): void {
    this.#edits = true
  }

  hasWrite(path: string, after: string): boolean {
    return this.#edits || this.#writes.get(path) === after
  }

  get hasEdits(): boolean {
    return this.#edits
  }

  hasCommandAlways(line: string): boolean {
    return this.#always.has(line.trim())
  }

  hasCommand(line: string): boolean {
    return this.#commands.has(line.trim())
  }
}
