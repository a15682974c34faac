/** The actions of the chat whose keys a person can change, with the usual keys. */
export const usualKeys = {
  leave: ['ctrl+d'],
  suspend: ['ctrl+z'],
  background: ['ctrl+b'],
  nextLeash: ['shift+tab'],
  openAll: ['ctrl+o'],
  board: ['ctrl+t'],
  palette: ['f1', 'ctrl+k'],
  pageUp: ['pageUp'],
  pageDown: ['pageDown'],
  newLine: ['shift+enter', 'ctrl+j', 'alt+enter'],
  send: ['enter'],
  paste: ['ctrl+v', 'alt+v'],
  edit: ['ctrl+g'],
  search: ['ctrl+r'],
} as const

export type ChangeableAction = keyof typeof usualKeys
/** The keys of actions, as a person set them. */
export type ChosenKeys = Partial<Record<ChangeableAction, readonly string[]>>

export const changeableActions = Object.keys(usualKeys) as ChangeableAction[]

/**
 * Keys that every terminal can send and that type nothing. Ctrl+I, Ctrl+M, Ctrl+H and Ctrl+[ arrive as Tab, Enter, Backspace and Esc, and
 * Ctrl with Shift as Ctrl alone.
 */
export const sendableKey =
  /^(?:f(?:[1-9]|1[0-2])|ctrl\+(?:[a-gj-ln-z]|space)|alt\+[a-z0-9]|(?:(?:ctrl|alt|shift)\+)?(?:up|down|left|right|home|end|pageUp|pageDown|insert|delete)|shift\+(?:tab|enter)|alt\+enter|enter)$/

/** The keys that always have the same meaning: they cancel, or edit and move in the text and the conversation. */
export const fixedKeys: Readonly<Record<string, string>> = {
  'ctrl+c': 'clears the input, cancels and leaves',
  up: 'recalls an earlier prompt',
  ...Object.fromEntries(
    [
      ['down', 'left', 'right', 'alt+left', 'ctrl+left', 'alt+b', 'alt+right', 'ctrl+right', 'alt+f'],
      ['home', 'end', 'ctrl+a', 'ctrl+e', 'delete', 'ctrl+w', 'alt+d', 'alt+delete', 'ctrl+u', 'ctrl+y', 'alt+y'],
    ]
      .flat()
      .map((key) => [key, 'edits the text that you type']),
  ),
  ...Object.fromEntries(
    ['ctrl+home', 'ctrl+end', 'ctrl+up', 'ctrl+down', 'ctrl+f'].map((key) => [key, 'moves in the conversation']),
  ),
}

/** The keys of every action: those that the person chose, and the usual ones of the others. */
export const keysWith = (chosen: ChosenKeys): Record<ChangeableAction, readonly string[]> => ({
  ...usualKeys,
  ...chosen,
})

/** A key that the person chose and that has another meaning already. */
export type KeyClash = { action: ChangeableAction; key: string; taken: string }

export function keyClashes(chosen: ChosenKeys): KeyClash[] {
  const all = Object.entries(keysWith(chosen)) as [ChangeableAction, readonly string[]][]
  return (Object.entries(chosen) as [ChangeableAction, readonly string[]][]).flatMap(([action, keys]) =>
    keys.flatMap((key): KeyClash[] => {
      const other = all.find(([name, held]) => name !== action && held.includes(key))?.[0]
      const taken = fixedKeys[key] ?? (other && `is the key of ${other}`)
      return taken === undefined ? [] : [{ action, key, taken }]
    }),
  )
}
