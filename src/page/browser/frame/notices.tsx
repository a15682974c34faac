import { dropNotice, notices } from '../hub/act.ts'

/** The notices about the person's last acts, each with an Undo button if the act can be undone. */
export function Notices() {
  return (
    <div class="notices" role="status" aria-label="What you have just done">
      {notices.value.map(({ id, words, undo }) => (
        <p class="notice" key={id}>
          <span>{words}</span>
          {undo ? (
            <button
              onClick={() => {
                dropNotice(id)
                undo()
              }}
            >
              Undo <kbd>u</kbd>
            </button>
          ) : null}
          <button aria-label="Close this notice" onClick={() => dropNotice(id)}>
            ×
          </button>
        </p>
      ))}
    </div>
  )
}
