import { machines } from '../hub/page-state.ts'
import { clockTime, moment } from '../words/words.ts'

/** If there are several machines, says which ones the view covers and which are not visible now. */
export function MachinesLine({ what }: { what: string }) {
  const all = machines.value
  if (all.length < 2) return null
  const online = all.filter((each) => each.online)
  const offline = all.filter((each) => !each.online)
  return (
    <div class="machines" role="status">
      <p class="quiet">
        {online.length} of {all.length} machines are online: {online.map(({ machine }) => machine).join(', ')}.
      </p>
      {offline.map(({ machine, since }) => (
        <p key={machine}>
          <strong>{machine}</strong> has been offline since{' '}
          <time dateTime={new Date(since).toISOString()} title={moment(since)}>
            {clockTime(since)}
          </time>
          . Its {what} cannot be seen until it is linked again.
        </p>
      ))}
    </div>
  )
}
