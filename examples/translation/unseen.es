la isla pequeña está enfrente de la lámpara pequeña .
la red roja está enfrente de la lámpara .
el capitán nuevo pinta la puerta nueva .
el capitán pequeño repara el puerto .
hay un puerto blanco aquí .
ella ve un barco nuevo .
el capitán vende una puerta nueva .
un barco está cerca del capitán viejo .
