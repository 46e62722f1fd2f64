//! Links: from the latent scale to the scale of the response.
