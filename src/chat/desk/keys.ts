import type { ChangeableAction, ChosenKeys } from '../../core/screen/chat-keys.ts'
import type { Keybinding, KeyId } from '@earendil-works/pi-tui'
import {
  KeybindingsManager,
  TUI_KEYBINDINGS,
  decodeKittyPrintable,
  isKeyRelease,
  matchesKey,
  setKeybindings,
} from '@earendil-works/pi-tui'
import { keysWith, usualKeys } from '../../core/screen/chat-keys.ts'

/** The keys of the actions that a person can change. */
let bound: Record<ChangeableAction, readonly string[]> = usualKeys

/** The keys of an action now. */
const keysOf = (place: KeyPlace, action: string): readonly KeyId[] =>
  place === 'screen' || place === 'input'
    ? ((bound[action as ChangeableAction] ??
        (chatKeys[place] as Record<string, KeyRow>)[action]!.keys) as readonly KeyId[])
    : (chatKeys[place] as Record<string, KeyRow>)[action]!.keys

/** The first key of an action that a person can change, as people write it. */
export const keyOf = (action: ChangeableAction): string => keyName(bound[action][0] as KeyId)

/** The keys of one action, and the text about them on the page of keys. */
type KeyRow = { keys: readonly KeyId[]; does: string }

/**
 * All keys of the chat, by the part of the screen that takes them. The code acts on this table and the page of keys shows
 * it, so that neither can know a key that the other does not.
 */
export const chatKeys = {
  screen: {
    interrupt: {
      keys: ['ctrl+c'],
      does: 'Clears the input. With an empty input: cancels the turn or command; again within 2 s leaves termaite.',
    },
    escape: {
      keys: ['escape'],
      does: 'Cancels the newest command, the running turn, or a request that waits. Twice: goes back to an earlier prompt.',
    },
    leave: { keys: usualKeys.leave, does: 'Leaves termaite when the input is empty. The conversation is kept.' },
    suspend: {
      keys: usualKeys.suspend,
      does: 'Suspends termaite; fg in the shell brings it back. Running agents keep working.',
    },
    background: {
      keys: usualKeys.background,
      does: 'Sends the running command to the background; it goes on as a job, and so does the turn. In tmux: twice.',
    },
    nextLeash: {
      keys: usualKeys.nextLeash,
      does: 'Changes how much the agents may do: read, ask, edit. For all: /leash all.',
    },
    openAll: { keys: usualKeys.openAll, does: 'Opens or folds all tool calls, thoughts and outputs.' },
    board: {
      keys: usualKeys.board,
      does: 'Shows or hides the agents that work inside the turn: workers, advisors, subagents, racers.',
    },
    palette: { keys: usualKeys.palette, does: 'Opens the list of all commands.' },
    pageUp: { keys: usualKeys.pageUp, does: 'Scrolls the conversation one page up.' },
    pageDown: { keys: usualKeys.pageDown, does: 'Scrolls the conversation one page down.' },
  },
  input: {
    newLine: { keys: usualKeys.newLine, does: 'Begins a new line. So does Enter after a \\.' },
    send: {
      keys: usualKeys.send,
      does: 'Sends the prompt. While a turn runs, the agent gets it at once, or it waits in the queue.',
    },
    complete: {
      keys: ['tab'],
      does: 'Completes a command after /, a file or an MCP resource after @, an earlier command after !.',
    },
    up: { keys: ['up'], does: 'In the first line: takes the newest waiting prompt back, or recalls an earlier one.' },
    paste: {
      keys: usualKeys.paste,
      does: 'Pastes the picture on the clipboard, or its text. The path of a picture that is pasted or dragged here becomes one too.',
    },
    edit: { keys: usualKeys.edit, does: 'Opens the input in your own editor ($VISUAL or $EDITOR).' },
    search: { keys: usualKeys.search, does: 'Searches the prompts that were sent in this project.' },
    keys: { keys: ['?'], does: 'In an empty input: shows this page.' },
  },
  popup: {
    up: { keys: ['up'], does: 'Chooses the suggestion above.' },
    down: { keys: ['down'], does: 'Chooses the suggestion below.' },
    accept: { keys: ['tab'], does: 'Takes the chosen suggestion.' },
    enter: { keys: ['enter'], does: 'Takes the chosen suggestion, or sends when the word is whole.' },
    close: { keys: ['escape'], does: 'Closes the suggestions.' },
  },
  history: {
    up: { keys: ['up'], does: 'Chooses the prompt above.' },
    down: { keys: ['down', 'ctrl+r'], does: 'Chooses the prompt below.' },
    take: { keys: ['enter', 'tab'], does: 'Puts the chosen prompt into the input.' },
    close: { keys: ['escape', 'ctrl+c'], does: 'Closes the search.' },
  },
  card: {
    up: { keys: ['up', 'shift+tab'], does: 'Chooses the answer above.' },
    down: { keys: ['down', 'tab'], does: 'Chooses the answer below.' },
    enter: { keys: ['enter'], does: 'Gives the chosen answer.' },
    number: {
      keys: ['1', '2', '3', '4', '5', '6', '7', '8', '9'],
      does: 'Gives the answer with that number, or marks it where several can be chosen.',
    },
    mark: { keys: ['space'], does: 'Marks an answer where several can be chosen.' },
    raise: {
      keys: ['alt+up', 'shift+up', '['],
      does: 'Moves the chosen answer up, if the order of the answers matters.',
    },
    lower: {
      keys: ['alt+down', 'shift+down', ']'],
      does: 'Moves the chosen answer down, if the order of the answers matters.',
    },
    open: { keys: ['ctrl+o', 'pageDown'], does: 'Shows the next page of a long question.' },
    back: { keys: ['pageUp'], does: 'Shows the previous page.' },
    escape: { keys: ['escape'], does: 'Gives the harmless answer, which the card names.' },
  },
  board: {
    up: { keys: ['up'], does: 'Chooses the agent above, or scrolls up in an opened one. The input must be empty.' },
    down: {
      keys: ['down'],
      does: 'Chooses the agent below, or scrolls down in an opened one. The input must be empty.',
    },
    pageUp: { keys: ['pageUp'], does: 'One page up.' },
    pageDown: { keys: ['pageDown'], does: 'One page down.' },
    open: { keys: ['enter'], does: 'Shows everything that the chosen agent did. The input must be empty.' },
    stop: { keys: ['ctrl+x'], does: 'Stops the chosen agent, after a question where work would be lost.' },
    terminal: { keys: ['ctrl+o'], does: 'Goes to the terminal of the chosen agent, if it has one.' },
    close: { keys: ['escape'], does: 'Goes back to the list, or closes it. The turn goes on.' },
  },
  palette: {
    up: { keys: ['up'], does: 'Chooses the command above.' },
    down: { keys: ['down'], does: 'Chooses the command below.' },
    pick: { keys: ['enter', 'tab'], does: 'Runs the chosen command, or puts it into the input when it needs words.' },
    keys: { keys: ['?'], does: 'Before anything is typed: shows this page.' },
    close: { keys: ['escape', 'ctrl+c'], does: 'Closes the list.' },
  },
  themes: {
    up: { keys: ['up', 'k'], does: 'Shows the theme above.' },
    down: { keys: ['down', 'j'], does: 'Shows the theme below.' },
    pick: { keys: ['enter'], does: 'Keeps the theme that is shown, from now on.' },
    close: { keys: ['escape', 'ctrl+c', 'q'], does: 'Goes back to the theme that was shown before.' },
  },
  sessions: {
    up: { keys: ['up'], does: 'Chooses the session above.' },
    down: { keys: ['down'], does: 'Chooses the session below.' },
    pageUp: { keys: ['pageUp'], does: 'One page up.' },
    pageDown: { keys: ['pageDown'], does: 'One page down.' },
    open: { keys: ['enter'], does: 'Opens the chosen session; an imported one goes on as a session of yours.' },
    rename: { keys: ['ctrl+r'], does: 'Gives the chosen session a name.' },
    fork: { keys: ['ctrl+n'], does: 'Begins a new session with the turns of the chosen one, which stays as it is.' },
    export: { keys: ['ctrl+e'], does: 'Writes the chosen session to a file.' },
    delete: { keys: ['ctrl+d'], does: 'Deletes the chosen session for good, after a question.' },
    close: { keys: ['escape', 'ctrl+c'], does: 'Empties the search, or closes the list.' },
  },
  agents: {
    up: { keys: ['up', 'k'], does: 'Chooses the agent above.' },
    down: { keys: ['down', 'j'], does: 'Chooses the agent below.' },
    pageUp: { keys: ['pageUp'], does: 'One page up.' },
    pageDown: { keys: ['pageDown'], does: 'One page down.' },
    toggle: { keys: ['space'], does: 'Lets the chosen agent take turns, or no longer.' },
    open: { keys: ['enter'], does: 'Does the same; in the list of agents to add: takes the chosen one.' },
    raise: { keys: ['[', 'alt+up', 'shift+up'], does: 'Moves the chosen agent up: it is asked earlier.' },
    lower: { keys: [']', 'alt+down', 'shift+down'], does: 'Moves the chosen agent down.' },
    add: { keys: ['a'], does: 'Adds an agent that is installed here, or a command of your own.' },
    remove: { keys: ['d'], does: 'Removes the chosen agent from your settings, after a question.' },
    close: { keys: ['escape', 'ctrl+c'], does: 'Closes the list.' },
  },
  page: {
    up: { keys: ['up', 'k'], does: 'One line up.' },
    down: { keys: ['down', 'j'], does: 'One line down.' },
    pageUp: { keys: ['pageUp', 'b'], does: 'One page up.' },
    pageDown: { keys: ['pageDown', 'space'], does: 'One page down.' },
    top: { keys: ['home', 'g'], does: 'To the beginning.' },
    bottom: { keys: ['end', 'shift+g'], does: 'To the end.' },
    close: { keys: ['escape', 'q', 'enter', '?', 'f1', 'ctrl+c'], does: 'Closes this page.' },
  },
} as const satisfies Record<string, Record<string, KeyRow>>

export type KeyPlace = keyof typeof chatKeys
export type KeyAction<P extends KeyPlace> = keyof (typeof chatKeys)[P] & string

/** The action of a key at one place; undefined if the place does not take the key. */
export function actionOf<P extends KeyPlace>(place: P, data: string): KeyAction<P> | undefined {
  if (isKeyRelease(data)) return undefined
  const actions = Object.keys(chatKeys[place])
  return actions.find((action) => keysOf(place, action).some((key) => isKey(data, key))) as KeyAction<P> | undefined
}

/** Terminals without a keyboard protocol send Alt+Enter as Escape and Return, and Ctrl+J as a line feed. */
const asSent: Partial<Record<KeyId, string>> = { 'alt+enter': '\x1b\r', 'ctrl+j': '\n', 'shift+g': 'G' }

function isKey(data: string, key: KeyId): boolean {
  return matchesKey(data, key) || data === asSent[key] || (key.length === 1 && decodeKittyPrintable(data) === key)
}

/** Keys that the screen library handles, with our own descriptions of their actions. */
const libraryRows = {
  editing: {
    'tui.editor.cursorUp': 'Moves up a line.',
    'tui.editor.cursorDown': 'Moves down a line, or back to a later prompt.',
    'tui.editor.cursorLeft': 'Moves left.',
    'tui.editor.cursorRight': 'Moves right.',
    'tui.editor.cursorWordLeft': 'Moves to the previous word.',
    'tui.editor.cursorWordRight': 'Moves to the next word.',
    'tui.editor.cursorLineStart': 'Moves to the beginning of the line.',
    'tui.editor.cursorLineEnd': 'Moves to the end of the line.',
    'tui.editor.jumpForward': 'Waits for a character, and moves forward to it.',
    'tui.editor.jumpBackward': 'Waits for a character, and moves back to it.',
    'tui.editor.deleteCharBackward': 'Deletes the character before the cursor.',
    'tui.editor.deleteCharForward': 'Deletes the character at the cursor.',
    'tui.editor.deleteWordBackward': 'Deletes the word before the cursor.',
    'tui.editor.deleteWordForward': 'Deletes the word after the cursor.',
    'tui.editor.deleteToLineStart': 'Deletes to the beginning of the line.',
    'tui.editor.yank': 'Inserts what was deleted last.',
    'tui.editor.yankPop': 'After Ctrl+Y: replaces that text with what was deleted before it.',
    'tui.editor.undo': 'Undoes the last edit.',
  },
  reading: {
    'tui.altScreen.top': 'Scrolls to the beginning of the conversation.',
    'tui.altScreen.bottom': 'Scrolls to the newest line and follows it.',
    'tui.altScreen.previousPrompt': 'Scrolls to the previous prompt.',
    'tui.altScreen.nextPrompt': 'Scrolls to the next prompt.',
    'tui.altScreen.search': 'Searches the conversation.',
    'tui.altScreen.searchNext': 'In a search: goes to the next match.',
    'tui.altScreen.searchPrevious': 'In a search: goes to the previous match.',
    'tui.altScreen.searchClose': 'In a search: closes it.',
  },
} as const satisfies Record<string, Partial<Record<Keybinding, string>>>

/** Leaves Home and End to the text that is typed, and lets Ctrl+F search, as everywhere else. */
const ourBindings = {
  // The screen has these keys, because a card with a long body needs them.
  'tui.altScreen.pageUp': [],
  'tui.altScreen.pageDown': [],
  'tui.altScreen.top': 'ctrl+home',
  'tui.altScreen.bottom': 'ctrl+end',
  'tui.altScreen.search': ['ctrl+f', 'ctrl+shift+f'],
  // Ctrl+B sends a command to the background.
  'tui.editor.cursorLeft': 'left',
  'tui.editor.cursorRight': 'right',
  'tui.editor.cursorLineStart': ['home', 'ctrl+a'],
  'tui.editor.cursorLineEnd': ['end', 'ctrl+e'],
} as const

/** The keys that the library acts on. */
export const libraryKeys = new KeybindingsManager(TUI_KEYBINDINGS, ourBindings as never)

/** Gives the library its keys, and the chat those that the person chose. */
export function bindKeys(chosen: ChosenKeys = {}): void {
  bound = keysWith(chosen)
  setKeybindings(libraryKeys)
}

/** A part of the page of keys: a title, and a row for each action. */
type KeySection = { title: string; rows: readonly { keys: string; does: string }[] }

const titles = (): Record<KeyPlace, string> => ({
  input: 'While you type',
  screen: 'At any time',
  popup: 'While suggestions are open',
  history: `While you search earlier prompts (${keyOf('search')})`,
  card: 'While a question is open',
  board: `While the agents of a turn are shown (${keyOf('board')})`,
  palette: `In the list of commands (${keyOf('palette')})`,
  themes: 'In the list of themes (/theme)',
  sessions: 'In the list of sessions (/sessions)',
  agents: 'In the list of agents (/agents)',
  page: 'On this page',
})

/** The characters that give a line of the input another meaning. They are not keys, but they belong on the page of keys. */
const beginnings: KeySection = {
  title: 'What the first character means',
  rows: [
    { keys: '/', does: 'A command of termaite, such as /agents.' },
    { keys: '!', does: 'A command for your own shell, such as !git status. The next agent sees its output.' },
    { keys: '#', does: 'A note for AGENTS.md, such as #run the tests with npm test. You see the change first.' },
    { keys: '@', does: 'Anywhere in a prompt: a file or a folder that the agent should read.' },
  ],
}

const mouse: KeySection = {
  title: 'Mouse',
  rows: [
    { keys: 'Wheel', does: 'Scrolls the conversation.' },
    { keys: 'Click', does: 'Opens or folds what is clicked; answers a question; takes a suggestion.' },
    { keys: 'Drag', does: 'Selects text and copies it.' },
  ],
}

/** Every key that does something, grouped by the state of the screen. */
export function keySections(): KeySection[] {
  const names = titles()
  const own = (place: KeyPlace) =>
    section(
      names[place],
      Object.entries<KeyRow>(chatKeys[place]).map(([action, { does }]) => ({ keys: keysOf(place, action), does })),
    )
  return [
    beginnings,
    own('input'),
    own('screen'),
    own('card'),
    own('board'),
    section('In a long conversation', ofLibrary(libraryRows.reading)),
    section('In the text that you type', ofLibrary(libraryRows.editing)),
    own('popup'),
    own('history'),
    own('palette'),
    own('sessions'),
    own('agents'),
    own('themes'),
    own('page'),
    mouse,
  ]
}

function section(title: string, rows: readonly KeyRow[]): KeySection {
  return { title, rows: rows.map(({ keys, does }) => ({ keys: keyNames(keys), does })) }
}

function ofLibrary(rows: Partial<Record<Keybinding, string>>): KeyRow[] {
  return Object.entries(rows).map(([binding, does]) => ({ keys: libraryKeys.getKeys(binding as Keybinding), does }))
}

const names: Record<string, string> = {
  escape: 'Esc',
  pageUp: 'PgUp',
  pageDown: 'PgDn',
  up: 'Up',
  down: 'Down',
  left: 'Left',
  right: 'Right',
}

/** Keys as people write them: `Ctrl+C, Esc`; nine digits are a range. */
export function keyNames(keys: readonly KeyId[]): string {
  if (keys.length > 3 && keys.every((key) => /^\d$/.test(key))) return `${keys[0]}–${keys.at(-1)}`
  return keys.map(keyName).join(', ')
}

function keyName(key: KeyId): string {
  const parts = key === 'ctrl+-' ? ['ctrl', '-'] : key.split('+')
  const held = parts.length > 1
  return parts
    .map((part) => names[part] ?? (part.length > 1 || held ? part[0]!.toUpperCase() + part.slice(1) : part))
    .join('+')
}
