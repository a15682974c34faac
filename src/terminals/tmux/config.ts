/**
 * What our own server begins with, whatever a person's is told: their plugins and hooks would run among the agents.
 * A person who attaches finds a mouse, colours, and what to press.
 */
export const config = `set -g history-limit 10000
set -g mouse on
set -g focus-events on
set -g allow-rename off
set -g automatic-rename off
set -g renumber-windows off
set -g status-left ""
set -g status-right " C-b d leaves, C-b w lists "
set -g status-right-length 40
set -g window-status-format " #W#{?window_bell_flag,!,} "
set -g window-status-current-format " #W "
set -g default-terminal "screen-256color"
set -s escape-time 10
set -s exit-empty on
set -sa terminal-features ",*:RGB"
`
