export type Key = 'Enter' | 'Escape' | 'Tab' | 'Up' | 'Down' | 'Left' | 'Right' | 'Ctrl+C' | 'Ctrl+D' | (string & {})

/** A screen as a person sees it: the rendered rows, not the bytes that drew them. */
export type Screen = {
  rows: string[]
  cols: number
  cursor: { row: number; col: number }
  /** The title that the program set, otherwise the one that termaite gave it. */
  title?: string
}

/**
 * The bytes that draw a screen, with its size and the position at which `output` continues. `unsure`: the program drew while the
 * picture was taken, so a part of `output` may already be in the picture.
 */
export type Picture = { at: number; text: string; cols: number; rows: number; unsure?: true }

/** The exit of a program. `lost`: its machine is unreachable, and it is unknown whether the program has exited at all. */
export type Exit = { code?: number; signal?: number; lost?: true }

/** Anything with a screen: a tmux pane or window, or an embedded PTY. Positions in `output` only grow. */
export interface Terminal {
  /** A uuid made by termaite, by which the terminal can be found again. It is never a pane number, because tmux reuses those. */
  id: string
  /** Writes keystrokes unchanged. `person`: a person pressed them, so they count for `touched`. */
  write(text: string, person?: boolean): Promise<void>
  /**
   * Pastes the text as one bracketed paste. `person`: a person pasted it, so it counts for `touched`. `mark`: the mark of a prompt,
   * which a terminal that outlives this process keeps in the same step as it takes the paste.
   */
  paste(text: string, person?: boolean, mark?: string): Promise<void>
  /**
   * Returns the mark of the last pasted prompt, even if the process that pasted it was killed right after; missing if no later process
   * could ask.
   */
  lastMark?(): Promise<string | undefined>
  press(key: Key): Promise<void>
  resize(cols: number, rows: number): Promise<void>
  screen(): Promise<Screen>
  /** Draws the present screen, with colours and modes, and this many of the rows that scrolled off it. */
  paint(above?: number): Promise<Picture>
  /** Returns the last rendered rows, including those that scrolled off the screen. */
  history(rows: number): Promise<string[]>
  /** Counts the child processes of the program. */
  children(): Promise<number>
  /** Returns those of the files that a process in the terminal has open; undefined if this machine cannot determine that. */
  opened?(paths: readonly string[]): Promise<string[] | undefined>
  output(after?: number): AsyncIterable<{ at: number; bytes: Uint8Array }>
  /** Returns when a person last pressed a key in the terminal, in ms since 1970; 0 for never. */
  touched(): Promise<number>
  /** Sets the title of the window; `ring` also rings its bell. */
  retitle(title: string, ring?: boolean): Promise<void>
  /** The command that shows the terminal without termaite; left out if only termaite can show it. */
  attach?: string
  /** Resolves when the program has exited; never rejects. */
  exited: Promise<Exit>
  /** Stops the program and every process that it started. */
  close(): Promise<void>
}

/** How a terminal is opened. */
export type Opening = {
  cwd: string
  env?: Record<string, string>
  /** Variables that are withheld from the program, even if the init files of the person's shell set them. */
  withheld?: readonly string[]
  title?: string
  /** The id of the terminal. A caller that chooses it can store it before the terminal exists. */
  id?: string
  mode?: 'window' | 'pane'
  size?: { cols: number; rows: number }
}

/** Opens terminals, and finds them again. */
export interface TerminalHost {
  /** Whether the terminals of the host keep running when this process exits. */
  outlives: boolean
  open(command: string, opening: Opening): Promise<Terminal>
  find(id: string): Promise<Terminal | undefined>
  /** Detaches from all terminals. Stops those that cannot outlive this process, with their children. */
  close(): Promise<void>
}
