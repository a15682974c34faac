import type { Known, ShellClass } from '../shell-judgement.ts'
import { is } from '../shell-judgement.ts'
import { optionsOf } from '../command-options.ts'
import { wordText } from '../simple-command.ts'

/** Programs that always need a question, whatever their arguments. */
const always: readonly [ShellClass, string, string][] = [
  [
    'network',
    'it reaches the network',
    'curl wget nc ncat netcat socat telnet ftp sftp scp rsync ssh ping ping6 dig nslookup host traceroute whois http https xh aria2c gh glab hub aws gcloud az kubectl oc doctl heroku vercel netlify fly flyctl wrangler supabase firebase terraform tofu pulumi ansible ansible-playbook psql mysql mongosh mongo redis-cli sqlcmd mail mailx sendmail nmap tcpdump rclone s3cmd gsutil ngrok cloudflared youtube-dl yt-dlp',
  ],
  [
    'system',
    'it changes the system',
    'su systemctl service launchctl mount umount useradd userdel usermod groupadd groupdel adduser deluser passwd chpasswd chsh chown chgrp killall pkill shutdown reboot halt poweroff init iptables nft ufw firewall-cmd sysctl modprobe insmod rmmod crontab at batch hostnamectl timedatectl localectl loginctl systemd-run defaults diskutil swapon swapoff setcap chattr setfacl visudo ldconfig update-alternatives update-rc.d dscl csrutil nvram pmset scutil networksetup docker podman nerdctl lxc lxd virsh vagrant chroot unshare nsenter ip ifconfig route kill renice xdg-open open tmux screen byobu dbus-send gsettings xset loadkeys newgrp login machinectl journalctl kextload spctl codesign',
  ],
  [
    'destructive',
    'it destroys data that cannot be restored',
    'shred dd wipefs fdisk sfdisk gdisk parted mkswap srm blkdiscard cryptsetup lvremove vgremove pvremove zpool zfs hdparm badblocks',
  ],
  [
    'secrets',
    'it handles keys',
    'gpg gpg2 ssh-keygen ssh-add ssh-agent ssh-keyscan security pass op vault age sops openssl keyctl secret-tool bw lpass gopass keytool certutil',
  ],
  [
    'dynamic',
    'termaite cannot see what it runs',
    'parallel expect script strace ltrace gdb lldb perf valgrind vim vi nvim nano emacs ed ex pico micro code subl alias bind complete compgen enable hash fc rundll32 cmd powershell pwsh wsl m4 tclsh wish irb ghci iex erl sqlite3 sftp-server',
  ],
]

export const reaching: Readonly<Record<string, Known>> = {
  ...Object.fromEntries(
    always.flatMap(([kind, why, names]) =>
      names.split(' ').map((name): [string, Known] => [name, () => is(kind, why)]),
    ),
  ),
  // Between two local folders rsync copies; with --delete it also removes files.
  rsync: (args) => {
    const options = optionsOf(args, ['--exclude', '--include'])
    if (
      options.unclear ||
      options.operands.some((word) => wordText(word).includes(':')) ||
      options.flags.some((flag) => /^-\w*e|^--(?:rsh|rsync-path)/.test(flag))
    )
      return is('network', 'it may reach the network')
    const removes = options.flags.some((flag) => flag.startsWith('--del') || flag.startsWith('--remove'))
    return {
      ...is(removes ? 'removes' : 'edits', removes ? 'it removes files' : 'it copies files'),
      paths: options.operands.map((word, i) => ({ word, how: removes && i > 0 ? 'remove' : 'write' })),
    }
  },
}
