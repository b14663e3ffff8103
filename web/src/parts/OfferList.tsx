// The list of completions above the text.

import type { Offer } from "./useCompletion";

interface OfferListProps {
  id: string;
  offers: Offer[];
  active: number;
  onChoose: (index: number) => void;
}

export function OfferList({ id, offers, active, onChoose }: OfferListProps) {
  return (
    <ul class="offers" id={id} role="listbox" aria-label="Completions">
      {offers.map((offer, index) => (
        <li
          key={`${offer.kind}:${offer.value}`}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === active}
          // A click must not take the focus out of the text.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(index)}
        >
          <span class="tag">{offer.kind}</span> <span class="value">{offer.value}</span>
          {offer.description !== null && <span class="muted small"> {offer.description}</span>}
        </li>
      ))}
    </ul>
  );
}
