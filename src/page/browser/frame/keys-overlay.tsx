import { useEffect, useRef } from 'preact/hooks'
import type { KeyedView } from './list-keys.ts'
import { keysAreShown } from './list-keys.ts'

type KeyGroup = { title: string; keys: readonly (readonly [string, string])[] }

/** The keys of every view; the views themselves follow from their rows. */
const everywhere = (views: readonly KeyedView[]): KeyGroup => ({
  title: 'Everywhere',
  keys: [
    ['j, k', 'next and previous row'],
    ['Enter', 'open the row'],
    ['/', 'search'],
    ['u', 'undo the last act'],
    ['?', 'this list'],
    ...views.map(({ key, title }) => [`g ${key}`, title.toLowerCase()] as const),
  ],
})

const groups: readonly KeyGroup[] = [
  {
    title: 'Inbox',
    keys: [
      ['a', 'allow or approve'],
      ['r', 'deny, or send back'],
      ['1 – 9', 'pick an answer'],
      ['s', 'snooze, or show again'],
      ['m', 'assign it to me, or give it back'],
      ['c', 'comment, and mention somebody'],
      ['t', 'retry a failed task'],
      ['e', 'done'],
    ],
  },
  {
    title: 'Tasks and agents',
    keys: [
      ['n', 'new task'],
      ['x', 'mark a task'],
      ['+, −', 'sooner and later'],
      ['w', 'write to an agent'],
      ['o', 'stop the work of an agent'],
      ['p', 'pause or resume an agent'],
    ],
  },
  {
    title: 'Review of a task',
    keys: [
      ['n, p', 'next and previous change'],
      ['], [', 'next and previous file'],
      ['o', 'open or close the file'],
      ['arrows', 'from line to line, and from side to side'],
      ['c', 'comment on the line'],
      ['s', 'all changes, or those since an earlier try'],
      ['v', 'the two sides beside each other, or below'],
      ['r', 'write what should be changed'],
      ['a', 'go to Approve'],
    ],
  },
  {
    title: 'Terminals',
    keys: [
      ['t', 'take the keys'],
      ['Ctrl+]', 'give the keys back and leave the terminal'],
    ],
  },
]

/** The list of all keys, shown in front of everything else until it is closed. */
export function KeysOverlay({ views }: { views: readonly KeyedView[] }) {
  return keysAreShown.value ? <KeysDialog views={views} /> : null
}

function KeysDialog({ views }: { views: readonly KeyedView[] }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEffect(() => ref.current?.showModal(), [])
  const close = () => {
    keysAreShown.value = false
  }
  return (
    <dialog
      ref={ref}
      class="keys"
      aria-labelledby="keys-title"
      onClose={close}
      onKeyDown={(event) => event.key === '?' && close()}
    >
      <div class="head">
        <h2 id="keys-title">Keys</h2>
        <button onClick={close}>Close</button>
      </div>
      <div class="key-groups">
        {[everywhere(views), ...groups].map(({ title, keys }) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, words]) => (
                <div key={key}>
                  <dt>
                    <kbd>{key}</kbd>
                  </dt>
                  <dd>{words}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="quiet">
        On a phone, swipe an item to the right to allow or approve it, and to the left to deny it or put it off for an
        hour. Each act can be taken back for some seconds.
      </p>
    </dialog>
  )
}
