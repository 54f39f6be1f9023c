// A modal dialog. The browser keeps the keyboard inside the dialog, and Escape closes it.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { textOf } from './load';

interface Props {
  title: string;
  /** The text of the button that submits the dialog. */
  action: string;
  isDangerous?: boolean;
  onClose: () => void;
  /** Runs the action. A failure is shown in the dialog. */
  onSubmit: () => Promise<void>;
  children?: ComponentChildren;
}

/** Shows the dialog while it is mounted. */
export function Dialog({ title, action, isDangerous = false, onClose, onSubmit, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [failure, setFailure] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      await onSubmit();
    } catch (error) {
      setFailure(textOf(error));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="dialog-title">{title}</h2>
        {children}
        {failure !== undefined && (
          <p class="failure" role="alert">
            {failure}
          </p>
        )}
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class={isDangerous ? 'danger' : 'primary'} disabled={isBusy}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}
