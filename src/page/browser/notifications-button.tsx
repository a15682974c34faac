import { allowNotifications, permission } from './notifications.ts'

/** Offers notifications if the browser can show them; otherwise says what would make them possible. */
export function NotificationsButton() {
  if (permission.value === 'granted') return null
  if (permission.value === 'default')
    return (
      <button
        class="notify"
        onClick={() => {
          void allowNotifications()
        }}
      >
        Notify me
      </button>
    )
  return (
    <details class="notify quiet">
      <summary>No notifications</summary>
      {permission.value === 'denied' ? (
        <p>This browser was told to show none for this page. Its settings for this address allow them again.</p>
      ) : (
        <p>
          Browsers show notifications over https and on this machine alone. The setting <code>notify</code> of termaite
          sends them to ntfy, a desktop or any command instead, with a link to this page.
        </p>
      )}
    </details>
  )
}
