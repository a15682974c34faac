export type Key = 'Enter' | 'Escape' | 'Tab' | 'Up' | 'Down' | 'Left' | 'Right' | 'Ctrl+C' | 'Ctrl+D' | (string & {})

/** What a person would see: the rendered rows, not the bytes that drew them. */
export type Screen = {
  rows: string[]
  cols: number
  cursor: { row: number; col: number }
  /** What the program calls itself, else what it was called by us. */
  title?: string
}

export type Exit = { code?: number; signal?: number }

/** Anything with a screen. Positions in `output` grow and never restart. */
export interface Terminal {
  /** A uuid of ours, by which it is found again; never a pane number. */
  id: string
  /** Keys as they come; a person's own are what `touched` tells of. */
  write(text: string, person?: boolean): Promise<void>
  /** One bracketed paste, whatever the text holds. */
  paste(text: string): Promise<void>
  press(key: Key): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  screen(): Promise<Screen>
  /** What draws the present screen on an empty one, colours and modes too, and where `output` goes on from it. */
  paint(): Promise<{ at: number; text: string }>
  /** The last rendered rows, those that scrolled off the screen among them. */
  history(rows: number): Promise<string[]>
  /** How many processes run below its own. */
  children(): Promise<number>
  output(after?: number): AsyncIterable<{ at: number; bytes: Uint8Array }>
  /** When a person last pressed a key in it, in ms since 1970; 0 for never. */
  touched(): Promise<number>
  /** What its window is called; `ring` draws a person's eye to it. */
  retitle(title: string, ring?: boolean): Promise<void>
  /** What a person types to see it without us; left out where only we can show it. */
  attach?: string
  exited: Promise<Exit>
  /** Ends the program and all that it started. */
  close(): Promise<void>
}

export type Opening = {
  cwd: string
  env?: Record<string, string>
  title?: string
  /** The uuid it is to be found by, so that it can be kept before it is there. */
  id?: string
  mode?: 'window' | 'pane'
  size?: { cols: number; rows: number }
}

export interface TerminalHost {
  /** Whether what runs in it goes on when our process ends. */
  outlives: boolean
  open(command: string, opening: Opening): Promise<Terminal>
  find(id: string): Promise<Terminal | undefined>
  /** Lets go of everything; what would not outlive us is ended, with all that it started. */
  close(): Promise<void>
}
