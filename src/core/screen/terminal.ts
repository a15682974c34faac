export type Key = 'Enter' | 'Escape' | 'Tab' | 'Up' | 'Down' | 'Left' | 'Right' | 'Ctrl+C' | 'Ctrl+D' | (string & {})

/** What a person would see: the rendered rows, not the bytes that drew them. */
export type Screen = { rows: string[]; cols: number; cursor: { row: number; col: number }; title?: string }

export type Exit = { code?: number; signal?: number }

/** Anything with a screen. Positions in `output` grow and never restart. */
export interface Terminal {
  /** A uuid of ours, by which it is found again; never a pane number. */
  id: string
  write(text: string): Promise<void>
  /** One bracketed paste, whatever the text holds. */
  paste(text: string): Promise<void>
  press(key: Key): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  screen(): Promise<Screen>
  /** How many processes run below its own. */
  children(): Promise<number>
  output(after?: number): AsyncIterable<{ at: number; bytes: Uint8Array }>
  /** When a person last pressed a key in it, in ms since 1970; 0 for never. */
  touched(): Promise<number>
  exited: Promise<Exit>
  close(): Promise<void>
}

export interface TerminalHost {
  open(command: string, options: { cwd: string; env?: Record<string, string>; title?: string }): Promise<Terminal>
  find(id: string): Promise<Terminal | undefined>
}
